from __future__ import annotations

import json

import pytest

pytest.importorskip("sentence_transformers")

from paraqd.cli.main import run

pytestmark = pytest.mark.usefixtures("single_thread")
ROWS = [
    (
        "Tom has 5 pens and buys 3 more. How many pens has he?",
        1,
        "Rewrite",
        "Tom owns 5 pens and buys 3 more. How many now?",
    ),
    (
        "Tom has 5 pens and buys 3 more. How many pens has he?",
        0,
        "NumberDeletion",
        "Tom has pens and buys 3 more. How many?",
    ),
    ("A bus goes 60 km in 2 hours. How fast is it?", 1, "Rewrite", "In 2 hours a bus covers 60 km. How fast is it?"),
    (
        "A bus goes 60 km in 2 hours. How fast is it?",
        0,
        "UnitReplacement",
        "A bus goes 60 m in 2 hours. How fast is it?",
    ),
]
QUICK = ("--layers", "1", "--epochs", "1", "--device", "cpu", "--quiet")


def write(path, rows=ROWS):
    with open(path, "w", encoding="utf-8") as file:
        for question, label, operator, paraphrase in rows:
            row = {
                "id": question[:3],
                "question": question,
                "paraphrase": paraphrase,
                "label": label,
                "operator": operator,
            }
            file.write(json.dumps(row) + "\n")
    return path


def test_a_model_folder_is_written_and_can_be_evaluated(tmp_path, capsys):
    pairs = write(tmp_path / "pairs.jsonl")
    out = tmp_path / "model"
    assert run(["lab", "train", str(pairs), "--validation", str(pairs), "--out", str(out), "--json", *QUICK]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["data"]["triplets"] == 2
    assert facts["validation"]["triplets"] == 2
    assert run(["evaluate", str(pairs), "--model", str(out), "--json", "--no-intervals"]) == 0
    measured = json.loads(capsys.readouterr().out)
    assert measured["n"] == 4
    assert "model:model@" in measured["signature"]
    assert run(["lab", "train", str(pairs), "--validation", str(pairs), "--out", str(out), *QUICK[:-1]]) == 0
    shown = capsys.readouterr().err
    assert "was trained before: 2 triplets; last loss" in shown
    assert "validation separation" in shown


def test_the_best_seed_is_searched_and_used(tmp_path, capsys):
    pairs = write(tmp_path / "pairs.jsonl")
    arguments = ["--search-seeds", "0,1", "--validation", str(pairs), "--out", str(tmp_path / "m"), "--json"]
    assert run(["lab", "train", str(pairs), *arguments, *QUICK]) == 0
    shown = capsys.readouterr()
    best = next(line for line in shown.err.splitlines() if line.endswith("(best)"))
    assert json.loads(shown.out)["settings"]["seed"] == int(best.split(":")[0].removeprefix("seed "))


@pytest.mark.parametrize(
    ("rows", "arguments", "message"),
    [
        (ROWS, ["--loss", "hinge"], "unknown loss 'hinge': use one of triplet, mnrl"),
        (ROWS, ["--batch-size", "0"], "batch_size must be at least 1"),
        (ROWS, ["--search-seeds", "a,b"], "--search-seeds a,b: write numbers separated by commas"),
        (ROWS, ["--search-seeds", "0"], "--search-seeds needs validation pairs: pass --validation FILE"),
        (ROWS, ["--encoder", "no/such/folder"], "needs the folder 'no/such/folder'"),
        (ROWS, ["--warmup", "5"], "warmup_share must be a fraction of the steps"),
        (ROWS, ["--seed", "-1"], "seed must be from 0"),
        (ROWS, ["--label-column", "verdict"], "verdict"),
        (ROWS, ["--layers", "9"], "the encoder has 6 layers: 9 cannot be kept"),
        (ROWS, ["--without", "f99"], "f99"),
        ([(*ROWS[0][:1], 2, *ROWS[0][2:])], [], "label"),
        ([row for row in ROWS if row[1]], [], "no invalid output"),
        ([], [], "is empty"),
    ],
)
def test_what_cannot_be_trained_is_one_line(rows, arguments, message, tmp_path, capsys):
    pairs = write(tmp_path / "pairs.jsonl", rows)
    assert run(["lab", "train", str(pairs), "--out", str(tmp_path / "m"), *QUICK, *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "m").exists()
    assert not list(tmp_path.glob("m.*"))


def test_how_the_pairs_were_made_stands_in_the_model_folder(tmp_path, capsys):
    questions = tmp_path / "questions.csv"
    questions.write_text("question\n" + "\n".join(row[0] for row in ROWS[::2]) + "\n", encoding="utf-8")
    for ending in ("parquet", "jsonl"):
        pairs, out = tmp_path / f"pairs.{ending}", tmp_path / ending
        operators = ["--operators", "f1,f8", "--stand-ins"]
        assert run(["lab", "augment", str(questions), "-o", str(pairs), *operators, "--quiet"]) == 0
        assert run(["lab", "train", str(pairs), "--out", str(out), "--json", *QUICK]) == 0
        facts = json.loads(capsys.readouterr().out)
        assert facts["stand_ins"] == ["Backtranslation (RewriteKeepingVoice)"]
        assert "Backtranslation (RewriteKeepingVoice)" in (out / "README.md").read_text()


def test_only_a_model_of_ours_is_ever_replaced(tmp_path, capsys):
    pairs = write(tmp_path / "pairs.jsonl")
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.txt").write_text("years")
    for out in (precious, precious / "thesis.txt", precious / "thesis.txt" / "model"):
        assert run(["lab", "train", str(pairs), "--out", str(out), "--overwrite", *QUICK]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert (precious / "thesis.txt").read_text() == "years"
    (tmp_path / "empty").mkdir()
    assert run(["lab", "train", str(pairs), "--out", str(tmp_path / "empty"), *QUICK]) == 0
    assert (tmp_path / "empty" / "model.safetensors").is_file()


def test_columns_may_have_other_names_and_files_be_several(tmp_path, capsys):
    files = []
    for number, rows in enumerate((ROWS[:2], ROWS[2:])):
        path = tmp_path / f"{number}.csv"
        lines = [f'{q!r},"{p}",{label}'.replace("'", '"') for q, label, _, p in rows]
        path.write_text("\n".join(["frage,umschrift,gut", *lines]) + "\n", encoding="utf-8")
        files.append(str(path))
    names = ["--question-column", "frage", "--paraphrase-column", "umschrift", "--label-column", "gut"]
    assert run(["lab", "train", *files, *names, "--out", str(tmp_path / "m"), "--json", *QUICK]) == 0
    assert json.loads(capsys.readouterr().out)["data"]["triplets"] == 2
    (tmp_path / "1.csv").write_text("frage,umschrift,gut\na?,b?,3\n", encoding="utf-8")
    assert run(["lab", "train", *files, *names, "--out", str(tmp_path / "m2"), *QUICK]) == 2
    assert "1.csv, row 2: the label is '3'" in capsys.readouterr().err


def test_without_pairs_and_without_data_the_line_says_what_to_fetch(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("PARAQD_DATA_DIR", raising=False)
    monkeypatch.setenv("PARAQD_CACHE_DIR", str(tmp_path / "cache"))
    assert run(["lab", "train", "--out", str(tmp_path / "m"), *QUICK]) == 2
    error = capsys.readouterr().err
    assert "questions" in error
    assert error.count("\n") == 1


def test_the_recipes_corpus_is_made_once_and_kept(tmp_path, capsys, monkeypatch):
    import gzip

    monkeypatch.setenv("PARAQD_CACHE_DIR", str(tmp_path / "cache"))
    things = ("pens", "cups", "nuts", "hats", "keys", "rings")
    rows = [
        {
            "id": f"{source}-{n}",
            "question": f"{name} has {12 + n} {thing} and buys {n + 3} kg of rice for $5. How many {thing} are left?",
            "source": source,
            "split": "validation" if n == 5 else "train",
        }
        for source, name in (("aqua", "Tom"), ("mathqa", "Ben"))
        for n, thing in enumerate(things)
    ]
    with gzip.open(tmp_path / "questions.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    arguments = ["lab", "train", "--data-dir", str(tmp_path), "--questions", "7", "--json", *QUICK]
    assert run([*arguments, "--out", str(tmp_path / "m")]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["recipe"] == "paper"
    assert facts["stand_ins"] == ["Backtranslation (RewriteKeepingVoice)"]
    assert list(facts["left_out"]) == ["LossyParaphrase"]
    assert (
        "skipped because their models were not available: LossyParaphrase" in (tmp_path / "m" / "README.md").read_text()
    )
    assert facts["data"]["questions"] == 7
    assert facts["validation"]["triplets"] > 0
    [made] = (tmp_path / "cache" / "corpora").glob("paper-*/train_pairs.jsonl.gz")
    before = made.stat().st_mtime_ns
    assert run([*arguments, "--out", str(tmp_path / "m2")]) == 0
    assert made.stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("options", "named"),
    [(["--recipe", "default", "--layers", "2"], "--layers"), (["--batch-tokens", "999"], "--batch-tokens")],
)
def test_an_option_that_would_not_be_heeded_is_refused(options, named, tmp_path, capsys):
    assert run(["lab", "train", "--out", str(tmp_path / "m"), *options]) == 2
    assert f"{named} cannot be used with" in capsys.readouterr().err
    assert not (tmp_path / "m").exists()
