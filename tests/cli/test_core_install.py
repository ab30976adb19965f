"""The core install scores files without any package of an extra; a file that needs one gives one clear line."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from itertools import chain

import pytest

from paraqd.extras import EXTRAS
from paraqd.tables.datasets import load_pairs

PAIRS = "id,question,paraphrase\n1,Ann has 5 pens. How many?,How many are Ann's 5 pens?\n2,Ann has 5 pens. How many?,\n"
CODE = """
import sys
sys.modules.update(dict.fromkeys({blocked!r}))
from paraqd.cli.main import run
sys.exit(run({arguments!r}))
"""


@pytest.fixture
def paraqd(tmp_path):
    (tmp_path / "pairs.csv").write_text(PAIRS)
    (tmp_path / "pairs.parquet").write_bytes(b"PAR1")

    def run(*arguments):
        code = CODE.format(blocked=sorted(chain(*EXTRAS.values())), arguments=list(arguments))
        return subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)

    return run


@pytest.mark.parametrize("out", ["scored.csv", "scored.tsv.gz", "scored.jsonl"])
def test_a_csv_is_scored(paraqd, tmp_path, out):
    done = paraqd("score", "pairs.csv", "-o", out)
    assert done.returncode == 0, done.stderr
    if out == "scored.csv":
        rows = list(csv.DictReader((tmp_path / out).open()))
        assert [row["valid"] for row in rows] == ["true", "false"]


def test_the_benchmark_is_evaluated(paraqd):
    done = paraqd("lab", "data", "path", "awp-variants")
    assert done.returncode == 0 and done.stdout.strip().endswith("awp_variants.jsonl.gz")
    done = paraqd("evaluate", "awp-variants", "--model", "reading", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["n"] == len(load_pairs("awp-variants"))
    assert paraqd("explain", "Ann has 5 pens. How many?", "Ann has 6 pens. How many?").returncode in (0, 1)


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("score", "pairs.parquet", "-o", "scored.csv"), "Parquet files"),
        (("score", "pairs.csv", "-o", "scored.parquet"), "Parquet files"),
        (("score", "pairs.csv", "-o", "scored.csv.zst"), ".zst files"),
    ],
)
def test_a_file_that_needs_pyarrow_names_the_extra(paraqd, tmp_path, arguments, what):
    done = paraqd(*arguments)
    assert done.returncode == 2
    assert done.stderr == f"error: pyarrow is not installed (needed for {what}): pip install 'paraqd[parquet]'\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pairs.csv", "pairs.parquet"]
