"""Where pairs may be written."""

import json

import pytest

from paraqd.operators.plan import AugmentError
from paraqd.runs.outputs import check_target, write_beside


def test_the_input_is_never_written_over(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("question\n")
    for overwrite in (False, True):
        with pytest.raises(AugmentError, match="is the input itself"):
            check_target(tmp_path / "." / "pairs.csv", path, overwrite=overwrite)


def test_a_finished_file_is_replaced_only_when_asked(tmp_path):
    path = tmp_path / "pairs.csv"
    check_target("questions.csv", path, overwrite=False)
    path.write_text("question\n")
    with pytest.raises(AugmentError, match="give --overwrite"):
        check_target("questions.csv", path, overwrite=False)
    check_target("questions.csv", path, overwrite=True)


def test_what_made_a_file_stands_beside_it_unless_it_is_parquet(tmp_path):
    write_beside(tmp_path / "a.csv", {"seed": 3407})
    write_beside(tmp_path / "a.parquet", {"seed": 3407})
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv.meta.json"]
    assert json.loads((tmp_path / "a.csv.meta.json").read_text()) == {"seed": 3407}
