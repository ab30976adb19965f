"""Test where outputs may be written."""

import json
from pathlib import Path

import pytest

from paraqd.data.tables import TableError
from paraqd.runs.locations import Location
from paraqd.runs.output import Output, write_beside


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("pairs.csv").write_text("question\n")
    return Location.at("pairs.csv")


def test_the_input_is_never_replaced(source):
    for overwrite in (False, True):
        with pytest.raises(TableError, match="is the input itself"):
            Output.at(source, Path(".") / "pairs.csv", overwrite=overwrite)


def test_a_finished_file_is_replaced_only_when_asked(source):
    assert Output.at(source, "out.csv").file == Path("out.csv")
    Path("out.csv").write_text("question\n")
    with pytest.raises(TableError, match="pass --overwrite"):
        Output.at(source, "out.csv")
    assert Output.at(source, "out.csv", overwrite=True).file == Path("out.csv")


def test_an_existing_folder_needs_no_slash(source):
    Path("out").mkdir()
    Path("out.csv").mkdir()
    for name in ("out", "out/", "out.csv", "new/"):
        assert Output.at(source, name).folder is not None
    with pytest.raises(TableError, match="cannot tell the format"):
        Output.at(source, "new")


def test_a_folder_of_files_becomes_a_folder(source):
    Path("in").mkdir()
    assert Output.at(Location.at("in"), "new").folder is not None
    with pytest.raises(TableError, match="pass -o scored/"):
        Output.at(Location.at("in"), "scored.csv")


def test_parts_of_an_earlier_version(source):
    parts = Path("out.csv.parts")
    parts.mkdir()
    for name in ("manifest.json", "part-0000000.json", "lock"):
        (parts / name).write_text("{}")
    with pytest.raises(TableError, match=r"out.csv.parts holds an unfinished run of paraqd 0.1.*pass --restart"):
        Output.at(source, "out.csv")
    (parts / "notes.txt").write_text("mine")
    Output.at(source, "out.csv", restart=True)
    assert [path.name for path in parts.iterdir()] == ["notes.txt"]


def test_the_record_of_what_made_a_file_is_beside_it_or_inside(tmp_path):
    write_beside(tmp_path / "a.csv", {"seed": 3407})
    write_beside(tmp_path / "a.parquet", {"seed": 3407})
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv.meta.json"]
    assert json.loads((tmp_path / "a.csv.meta.json").read_text()) == {"seed": 3407}
