"""Test the locations of outputs and the folder of a run."""

import json
from contextlib import ExitStack
from pathlib import Path

import pytest

from paraqd.runs.locations import Location
from paraqd.runs.output import Output, read_metadata, write_beside
from paraqd.runs.store import hold_store
from paraqd.tables.table import TableError


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
    with pytest.raises(TableError, match="pass overwrite=True"):
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
    with pytest.raises(TableError, match="pass out='scored/'"):
        Output.at(Location.at("in"), "scored.csv")


def test_parts_of_an_earlier_version(source):
    parts = Path("out.csv.parts")
    parts.mkdir()
    for name in ("manifest.json", "part-0000000.json", "lock"):
        (parts / name).write_text('{"input": "0", "steps": [], "models": {}, "chunk": 5}')
    with pytest.raises(TableError, match=r"out.csv.parts holds an unfinished run of paraqd 0.1.*pass restart=True"):
        Output.at(source, "out.csv")
    (parts / "notes.txt").write_text("mine")
    before = sorted(parts.iterdir())
    output = Output.at(source, "out.csv", restart=True)
    assert sorted(parts.iterdir()) == before, "nothing is removed before the input was looked at"
    output.discard_earlier()
    assert [path.name for path in parts.iterdir()] == ["notes.txt"]


def test_files_of_others_with_the_names_of_an_earlier_version(source):
    Path("out.csv.parts").mkdir()
    for name in ("manifest.json", "part-1.json"):
        Path("out.csv.parts", name).write_text('{"mine": 1}')
    assert Output.at(source, "out.csv", restart=True).earlier == ()


def test_the_record_of_what_made_a_file_is_beside_it_or_inside(tmp_path):
    write_beside(tmp_path / "a.csv", {"seed": 3407})
    write_beside(tmp_path / "a.parquet", {"seed": 3407})
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv.meta.json"]
    assert json.loads((tmp_path / "a.csv.meta.json").read_text()) == {"seed": 3407}


MANIFEST = {"format": 1, "command": "score", "input": [], "parts": []}


class TestTheFolderOfARun:
    def begin(self, file="out.csv", manifest=MANIFEST, **options):
        with hold_store(Location.at(f"{file}.parts"), Path(file)) as store:
            store.begin(manifest, **options)
            store.place.put("part-00000.jsonl", b"")

    @pytest.mark.parametrize("manifest", [None, "{", '{"format": 1}', '{"format": 0, "command": "score"}'])
    @pytest.mark.parametrize("options", [{}, {"restart": True}, {"overwrite": True, "restart": True}])
    def test_parts_without_a_manifest_of_ours_are_not_removed(self, source, manifest, options):
        parts = Path("out.csv.parts")
        parts.mkdir()
        (parts / "part-0.parquet").write_text("precious")
        if manifest is not None:
            (parts / "_manifest.json").write_text(manifest)
        before = sorted(parts.iterdir())
        with pytest.raises(TableError, match=r"out\.csv\.parts is in the way: it holds "):
            self.begin(**options)
        assert sorted(parts.iterdir()) == before and (parts / "part-0.parquet").read_text() == "precious"

    def test_a_run_that_was_killed_before_its_manifest_was_written_is_not_in_the_way(self, source):
        Path("out.csv.parts").mkdir()
        Path("out.csv.parts/.lock").touch()
        Path("out.csv.parts/._manifest.json.123.writing").write_text("{")
        self.begin()
        assert sorted(path.name for path in Path("out.csv.parts").iterdir()) == [
            ".lock",
            "_manifest.json",
            "part-00000.jsonl",
        ]

    @pytest.mark.parametrize("manifest", [None, '{"format": 0, "command": "score"}'])
    def test_a_restart_does_not_replace_a_folder_of_others_or_a_finished_one(self, source, manifest):
        Path("out").mkdir()
        for name in ("part-00000.parquet", "_SUCCESS"):
            Path("out", name).write_text("precious")
        if manifest is not None:
            Path("out/_manifest.json").write_text(manifest)
        before = sorted(Path("out").iterdir())
        with (
            pytest.raises(TableError, match=r"already holds .* pass overwrite=True"),
            hold_store(Location.at("out/")) as store,
        ):
            store.begin(MANIFEST, restart=True)
        assert sorted(Path("out").iterdir()) == before
        with hold_store(Location.at("out/")) as store:
            store.begin(MANIFEST, overwrite=True)
        assert sorted(path.name for path in Path("out").iterdir()) == [".lock", "_manifest.json"]

    def test_a_run_that_starts_when_another_has_just_ended_keeps_its_folder(self, source):
        place = Location.at("out.csv.parts")
        with ExitStack() as second:
            with hold_store(place, Path("out.csv")) as first:
                first.begin(MANIFEST)
                first.clear()
                second.enter_context(hold_store(place, Path("out.csv"))).begin(MANIFEST)
            assert sorted(place.names()) == [".lock", "_manifest.json"]

    def test_an_unfinished_run_replaces_a_file_only_if_it_was_started_so(self, source):
        self.begin()
        assert Output.at(source, "out.csv").file == Path("out.csv")
        Path("out.csv").write_text("put there by hand")
        with pytest.raises(TableError, match="already exists; pass overwrite=True"):
            Output.at(source, "out.csv")
        self.begin(overwrite=True)  # continues the run
        self.begin(overwrite=True, restart=True)
        assert Output.at(source, "out.csv").file == Path("out.csv")
        self.begin()  # the settings are still the same

    @pytest.mark.parametrize("change", ["restart", "another file", "appears later"])
    def test_consent_to_replace_a_file_covers_one_run_and_one_file(self, source, change):
        if change != "appears later":
            Path("out.csv").write_text("old")
        self.begin(overwrite=True)
        if change == "restart":
            assert Output.at(source, "out.csv").file == Path("out.csv")
        else:
            Path("out.csv").write_text("put there by hand")
        with pytest.raises(TableError, match="already exists; pass overwrite=True"):
            Output.at(source, "out.csv", restart=change == "restart")

    def test_a_file_with_the_name_of_the_folder_is_in_the_way(self, source):
        Path("out.csv.parts").write_text("mine")
        with pytest.raises(
            TableError, match=r"^out\.csv\.parts is in the way: it is a file, not a folder; move it away$"
        ):
            self.begin()
        assert Path("out.csv.parts").read_text() == "mine"


def test_an_empty_name_is_not_the_current_folder(source):
    with pytest.raises(TableError, match=r"^the name of the output is empty"):
        Output.at(source, "")
    with pytest.raises(TableError, match=r"^the name of the input is empty"):
        Location.at("")


@pytest.mark.parametrize("content", ["years of work", '{"mine": 1}', "[]", "3", "\x00"])
def test_a_record_of_another_program_is_ignored(source, content):
    Path("pairs.csv.meta.json").write_text(content)
    assert read_metadata("pairs.csv") == {}
    write_beside(Path("pairs.csv"), {"complete": True, "recipe": "paper"})
    assert read_metadata("pairs.csv") == {"complete": True, "recipe": "paper"}
