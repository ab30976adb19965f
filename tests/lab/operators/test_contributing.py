"""Check that CONTRIBUTING.md's section about operators is true."""

import csv
import re
import sys
from pathlib import Path

import pytest

from paraqd.cli.main import run
from paraqd.lab.annotation.purity import check_pair
from paraqd.lab.operators import PARTS, Operator, Resources, derive_rng, registry
from paraqd.reading import read

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.fixture
def polite_opening(tmp_path, monkeypatch):
    """Follow the steps: write the file and add the registry line."""
    block = re.search(r"   ```python\n(.*?)   ```", TEXT, re.S).group(1)
    code = "\n".join(line.removeprefix("   ") for line in block.splitlines())
    name, module = re.search(r'`"(\w+)": "([\w.]+)",`', TEXT).groups()
    assert f"src/paraqd/lab/operators/{module.replace('.', '/')}.py" in TEXT
    assert (ROOT / "src/paraqd/lab/operators" / module.split(".")[0]).is_dir()
    (tmp_path / "polite_opening.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "BUILTIN", {**registry.BUILTIN, name: module})
    __import__("polite_opening")
    monkeypatch.setitem(sys.modules, f"paraqd.lab.operators.{module}", sys.modules["polite_opening"])
    registry._builtin.cache_clear()
    yield name
    registry._builtin.cache_clear()


def test_the_example_keeps_the_contract(polite_opening):
    operator = registry.get(polite_opening)
    question = "Tom has 5 pens. How many more does he need?"
    output = operator.apply(read(question), derive_rng(1, "a", polite_opening), Resources())
    assert output.endswith(question) and output != question
    assert operator.apply(read(""), derive_rng(1, "a", polite_opening), Resources()) is None
    assert check_pair(question, output, polite_opening, 1, promises=registry.declarations()).ok


def test_the_example_can_be_applied_and_checked(polite_opening, tmp_path, capsys):
    out = tmp_path / "out.csv"
    assert (
        run(["lab", "augment", str(ROOT / "samples/questions.csv"), "-o", str(out), "--operators", polite_opening]) == 0
    )
    with open(out, encoding="utf-8", newline="") as file:
        assert {row["operator"] for row in csv.DictReader(file)} == {polite_opening}
    assert run(["lab", "purity", str(out), "--fail-under", "1"]) == 0


def test_the_table_lists_every_declaration():
    attributes = re.findall(r"^\| `(\w+)` \|", TEXT, re.M)
    assert set(attributes) == set(Operator.__annotations__)
    parts = re.search(r"\| `changes` \|.*?: (.*) \|", TEXT).group(1)
    assert re.findall(r"`(\w+)`", parts) == list(PARTS)
