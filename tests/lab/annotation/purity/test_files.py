"""Check files of augmented pairs, and show the result."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraqd.cli.main import run
from paraqd.lab.annotation.purity import check_file
from paraqd.lab.operators import declarations

PROMISES = declarations()

ROWS = [
    {
        "id": "a",
        "question": "It is 5 km.",
        "paraphrase": "It is five km.",
        "label": 1,
        "operator": "NumToWords",
        "note": "",
    },
    {
        "id": "b",
        "question": "It is 5 km.",
        "paraphrase": "It is fivekm.",
        "label": 1,
        "operator": "NumToWords",
        "note": "",
    },
    {
        "id": "a",
        "question": "It is 5 km.",
        "paraphrase": "It is 6 km.",
        "label": 0,
        "operator": "NumberChange",
        "note": "",
    },
    {
        "id": "c",
        "question": "Tom ran 5 km.",
        "paraphrase": "Max ran 5 km.",
        "label": 0,
        "operator": "EntityReplacement",
        "note": "consistent_renaming",
    },
]


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


def test_a_file_is_counted_by_operator(pairs):
    report = check_file(pairs, promises=PROMISES)
    words, change, names = report.operators
    assert (words.name, words.n, words.pure, words.impure, words.purity) == ("NumToWords", 2, 1, 1, 0.5)
    assert words.reasons == {"glued together": 1}
    assert words.examples[0].item.id == "b"
    assert (change.purity, names.n, names.consistent_renamings, names.pure, names.purity) == (1.0, 1, 1, 0, 1.0)
    assert (report.n, report.lowest) == (4, 0.5)


def test_the_number_of_workers_changes_nothing(tmp_path):
    path = tmp_path / "pairs.parquet"
    pq.write_table(pa.Table.from_pylist(ROWS * 400), path)
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    assert (
        check_file(path, promises=PROMISES, offenders=one).to_dict()
        == check_file(path, promises=PROMISES, offenders=two, workers=2).to_dict()
    )
    assert one.read_bytes() == two.read_bytes()
    assert one.read_text(encoding="utf-8").count("fivekm") == 400


def test_progress_is_reported(pairs):
    told = []
    check_file(pairs, promises=PROMISES, progress=lambda *state: told.append(state))
    assert told == [("reading", 0, None), ("checking", 0, 4), ("checking", 4, 4)]


def test_rows_without_a_pair_are_named(tmp_path, capsys):
    path = tmp_path / "pairs.csv"
    path.write_text("question,paraphrase,label\nIt is 5 km.,It is five km.,1\n,x,1\nIt is 5 km.,It is 6 km.,maybe\n")
    report = check_file(path, promises=PROMISES)
    assert report.skipped_rows == ((3, "no question"), (4, "the label is not 1 or 0"))
    assert report.operators[0].name == "(no operator)"
    assert run(["lab", "purity", str(path), "--quiet"]) == 1
    assert "could not check 2 rows" in capsys.readouterr().err


# --- the command --------------------------------------------------------------------------------


def test_the_command_shows_a_table_and_examples(pairs, capsys):
    assert run(["lab", "purity", str(pairs)]) == 0
    shown = capsys.readouterr().out
    assert "NumToWords" in shown and "50.00%" in shown and "glued together" in shown


def test_the_command_writes_json(pairs, capsys):
    assert run(["lab", "purity", str(pairs), "--json"]) == 0
    operators = json.loads(capsys.readouterr().out)["operators"]
    expected = {"n": 2, "pure": 1, "impure": 1, "purity": 0.5, "consistent_renamings": 0}
    assert expected.items() <= operators["NumToWords"].items()
    assert operators["NumToWords"]["reasons"] == {"glued together": 1}


def test_the_command_writes_the_offenders(pairs, tmp_path):
    out = tmp_path / "offenders.jsonl"
    assert run(["lab", "purity", str(pairs), "--offenders", str(out), "--quiet"]) == 0
    (row,) = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert (row["id"], row["operator"], row["reason"]) == ("b", "NumToWords", "glued together")
    assert (row["question"], row["paraphrase"]) == ("It is 5 km.", "It is fivekm.")


def test_the_command_fails_under_a_bound(pairs, capsys):
    assert run(["lab", "purity", str(pairs), "--quiet", "--fail-under", "0.4"]) == 0
    assert run(["lab", "purity", str(pairs), "--quiet", "--fail-under", "0.999"]) == 1
    assert "NumToWords" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "arguments", "line"),
    [
        (None, [], "there is no file"),
        ("question\nIt is 5 km.\n", [], "no column 'paraphrase'"),
        ("question,paraphrase,label\na,b,1\n", ["--offenders", "nowhere/out.csv"], "no folder"),
        ("question,paraphrase,label\na,b,1\n", ["--workers", "0"], "--workers"),
    ],
)
def test_an_error_is_one_line(tmp_path, monkeypatch, capsys, content, arguments, line):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        (tmp_path / "pairs.csv").write_text(content, encoding="utf-8")
    assert run(["lab", "purity", "pairs.csv", *arguments]) == 2
    error = capsys.readouterr().err
    assert line in error and error.count("\n") == 1
