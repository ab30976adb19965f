"""Check that the commands do what their help says."""

import io
import json
import shlex
import sys
from pathlib import Path

import pytest
import typer

import paraqd
from paraqd.cli.main import run
from paraqd.cli.program import program

QUESTIONS = [
    "Tom has 5 apples and buys 3 more. How many apples has he now?",
    "A train runs 120 km in 2 hours. What is its speed in kmph?",
    "Asha paid Rs. 40 for 8 pens. How much does one pen cost?",
]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("q.jsonl").write_text("\n".join(json.dumps({"question": text}) for text in QUESTIONS), encoding="utf-8")
    return tmp_path


def every_command(app, names=()):
    """Return the names and the record of a group and of all commands in it, also of groups in groups."""
    found = [(names, app.info)]
    found += [((*names, command.name), command) for command in app.registered_commands]
    for group in app.registered_groups:
        inner = every_command(group.typer_instance, (*names, group.name))
        found += [((*names, group.name), group), *inner[1:]]
    return found


def test_help_of_every_command_has_an_example(capsys):
    commands = [[*names, "--help"] for names, _ in every_command(program())]
    assert ["lab", "generator", "train", "--help"] in commands
    for command in commands:
        assert run(command) == 0
        assert "Example: paraqd" in capsys.readouterr().out, command


def examples():
    """Return the example of every command, as shown in its help."""
    return [info.epilog.removeprefix("Example: ") for _, info in every_command(program())[1:]]


@pytest.mark.parametrize("example", examples())
def test_the_example_in_the_help_is_a_command_that_can_be_parsed(example):
    _, *arguments = shlex.split(example)
    command = typer.main.get_command(program())
    context = command.make_context("paraqd", arguments)
    while hasattr(command, "resolve_command"):  # a group: go on to the command that the arguments name
        rest = [*context._protected_args, *context.args]
        if command.invoke_without_command and not rest:
            break
        name, command, arguments = command.resolve_command(context, rest)
        context = command.make_context(name, arguments, parent=context)
    assert command.callback is not None


def test_version(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"paraqd {paraqd.__version__}\n"


def test_starting_imports_nothing_heavy(imports):
    heavy = {"numpy", "pyarrow", "spacy", "torch", "transformers"}
    assert not heavy & imports("lab", "augment", "--help")[1]


def test_a_command_does_not_import_the_others(imports):
    out, modules = imports("explain", "--help")
    assert "paraqd explain" in out
    assert not {"paraqd.lab.cli.train", "paraqd.lab.cli.annotate", "paraqd.lab.cli.data"} & modules


def test_help_before_a_command_shows_all_commands(capsys):
    assert run(["--help", "explain"]) == 0
    assert "paraphrase" in capsys.readouterr().out


def test_augment_prints_a_report(here, capsys):
    assert (
        run(["lab", "augment", "q.jsonl", "-o", "out.csv", "--operators", "f2,f3,f8", "--report", "report.html"]) == 0
    )
    captured = capsys.readouterr()
    assert captured.err == ""
    assert "NumToWords" in captured.out and "100.0 %" in captured.out
    assert "[-5-]{+five+}" in captured.out
    assert "3 questions →" in captured.out
    assert Path("report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_augment_as_json_and_quiet(here, capsys):
    assert run(["lab", "augment", "q.jsonl", "-o", "out.csv", "--operators", "f2", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["questions"], report["written"], report["complete"]) == (3, 3, True)
    assert report["operators"][0]["applied_percent"] == 100
    assert run(["lab", "augment", "q.jsonl", "-o", "out.tsv", "--operators", "f2", "--quiet"]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_rows_without_a_question_are_named_and_the_exit_code_is_1(here, capsys):
    lines = [QUESTIONS[0], "", " ", QUESTIONS[1], 5]
    Path("q.jsonl").write_text("\n".join(json.dumps({"question": text}) for text in lines))
    assert run(["lab", "augment", "q.jsonl", "-o", "out.csv", "--operators", "f2", "--quiet"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "skipped 2 rows without a usable question (blank question): rows 2–3",
        "skipped 1 row without a usable question (question is not text): row 5",
    ]


def test_an_operator_that_is_left_out_is_named_once(here, capsys):
    assert run(["lab", "augment", "q.jsonl", "-o", "out.csv", "--operators", "f2,f9", "--stand-ins", "-q"]) == 0
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 1 and errors[0].startswith(
        "skipped the operator LossyParaphrase: no stand-in model was passed"
    )
    assert "LossyParaphrase" in json.loads(Path("out.csv.meta.json").read_text())["left_out"]


def test_purity_shows_no_label_for_pairs_without_an_operator(here, capsys):
    rows = [
        {"question": QUESTIONS[0], "paraphrase": QUESTIONS[0].replace("5", "6"), "label": label} for label in (1, 0)
    ]
    Path("pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert run(["lab", "purity", "pairs.jsonl", "--examples", "0"]) == 0
    assert ["(no", "operator)", "2", "50.00%", "1", "0"] in [
        line.split() for line in capsys.readouterr().out.splitlines()
    ]


def test_augment_reads_standard_input(here, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path("q.jsonl").read_bytes())))
    assert run(["lab", "augment", "-", "-o", "out.jsonl", "--operators", "f2", "-q"]) == 0
    rows = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert [row["paraphrase"] for row in rows] == QUESTIONS


def test_read(capsys, monkeypatch):
    text = "Alex drove 100 km at 20 kmph. How many hours did it take him?"
    assert run(["lab", "read", text]) == 0
    out = capsys.readouterr().out
    assert "Quantities (2)" in out and "kilometre/hour" in out and "How many hours did it take him?" in out
    assert run(["lab", "read", text, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [quantity["value"] for quantity in data["quantities"]] == ["100", "20"]
    assert data["quantities"][0]["span"] == [11, 17]
    assert data["questions"][0]["text"] == "How many hours did it take him?"
    assert run(["lab", "read", ""]) == 0


def test_read_from_standard_input(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("It costs ₹14.".encode())))
    assert run(["lab", "read", "-", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["quantities"][0]["unit"] == "rupee"


@pytest.mark.usefixtures("single_thread")
def test_generator_train_smoke(here, capsys):
    pytest.importorskip("transformers")
    import gzip

    pair = {"label": 1, "source": "paws"}
    rows = [{"a": f"Tom has {i} apples.", "b": f"Tom owns {i} apples.", **pair} for i in range(8)]
    Path("data").mkdir()
    with gzip.open("data/general_paraphrases.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(json.dumps(row) for row in rows))
    assert (
        run(["lab", "generator", "train", "f9", "--data", "data", "--out", "f9", "--scale", "smoke", "--device", "cpu"])
        == 0
    )
    assert "use it with --generator f9=f9" in capsys.readouterr().err
    command = [
        "lab",
        "augment",
        "q.jsonl",
        "-o",
        "out.jsonl",
        "--operators",
        "f9",
        "--generator",
        "f9=f9",
        "--device",
        "cpu",
        "-q",
    ]
    assert run(command) == 0
    rows = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert all(row["stand_in"] and row["paper_id"] == "f9" for row in rows)
