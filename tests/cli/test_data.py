"""``paraqd lab data`` lists, fetches, finds and builds; whatever is not here is one line that says what to do."""

import gzip
import hashlib
import json
import threading
from dataclasses import replace
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from paraqd.cli.main import run
from paraqd.tables.datasets import DATASETS, DataFile

QUESTION = "Tom has 5 apples and buys 3 more. How many has he now?"
PAIRS = f"question,augmented,final_label\n{QUESTION},Tom has 5 apples.,0\n{QUESTION},{QUESTION},1\n"


@pytest.fixture
def here(without_data, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    Path("data").mkdir()
    return without_data


@pytest.fixture
def served(here, monkeypatch):
    """The test set pawp, from a server of this process."""
    (here / "www").mkdir()
    content = f"question,paraphrase,label\n{QUESTION},Tom has 5 apples.,0\n".encode()
    (here / "www" / "pawp.csv").write_bytes(content)

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=str(here / "www"))

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{server.server_port}/pawp.csv"
    file = DataFile("pawp_test.csv", url, hashlib.sha256(content).hexdigest())
    monkeypatch.setitem(DATASETS, "pawp", replace(DATASETS["pawp"], files=(file,)))
    yield file
    server.shutdown()
    server.server_close()
    thread.join()


def corpora(folder):
    """Write the three corpora and the test sets into a data folder, a few rows each."""
    for name in ("aqua_rat", "mathqa", "gsm8k"):
        (folder / name).mkdir()
    aqua = [QUESTION, QUESTION.upper(), "A man has 12 goats and sells 4. How many goats are left?"]
    (folder / "aqua_rat" / "train.json").write_text("\n".join(json.dumps({"question": q}) for q in aqua))
    problem = {"Problem": "a pen costs 5 rupees . what do 3 pens cost ?", "annotated_formula": "multiply(5, 3)"}
    (folder / "mathqa" / "train.json").write_text(json.dumps([problem]))
    lines = [{"question": "A box holds 6 eggs. How many eggs are in 7 boxes?", "answer": "42"}]
    (folder / "gsm8k" / "train.jsonl").write_text("\n".join(map(json.dumps, lines)))
    test = "question,augmented,final_label\nA man has 3 goats and sells 2. How many goats are left?,x,0\n"
    (folder / "aquarat_test.csv").write_text(test)
    (folder / "sawp_test.csv").write_text(PAIRS.replace("Tom", "Asha"))
    (folder / "pawp_test.csv").write_text("question,paraphrase,label\nHow many?,x,0\n")


def test_help_has_an_example(capsys):
    for command in (["lab", "data", *rest] for rest in ([], ["list"], ["get"], ["path"], ["build"])):
        assert run([*command, "--help"]) == 0
        assert "Example: paraqd lab data" in capsys.readouterr().out, command


def test_help_imports_nothing_heavy(imports):
    heavy = {"numpy", "pyarrow", "rapidfuzz", "torch", "urllib.request"}
    assert not heavy & imports("lab", "data", "get", "--help")[1]


# --- list ---------------------------------------------------------------------------------------


def test_list_shows_what_is_here(here, capsys):
    with gzip.open("data/questions.jsonl.gz", "wt") as file:
        file.write(json.dumps({"id": "aqua-00000", "question": QUESTION}))
    Path("data/sawp_test.csv").write_text(PAIRS)
    assert run(["lab", "data", "list", "--data-dir", "data"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line[:1].strip()}
    assert lines["questions"].split()[1:4] == ["questions", "1", "local"]
    assert lines["sawp"].split()[1:4] == ["pairs", "2", "changed"], "these are not the paper's pairs"
    assert lines["gsm8k"].split()[1:4] == ["questions", "missing", "MIT"]
    assert lines["gsm8k"].rstrip().endswith(DATASETS["gsm8k"].description)


def test_list_fits_a_small_terminal(here, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    Path("data/sawp_test.csv").write_text(PAIRS)
    assert run(["lab", "data", "list", "--data-dir", "data"]) == 0
    out = capsys.readouterr().out
    assert all(len(line.rstrip()) <= 80 for line in out.splitlines())
    assert "description" in out and "The paper's SAWP" in out, "what a set is matters more than its licence"
    assert "licence " not in out and "Apache" not in out
    (sawp,) = [line for line in out.splitlines() if line.startswith("sawp ")]
    assert sawp.split()[1:3] == ["pairs", "2"]


def test_list_says_which_sets_are_a_users_own(here, capsys):
    assert run(["lab", "data", "list"]) == 0
    assert (
        "em_math and em_math_train are not public; put your own files into the data folder" in capsys.readouterr().out
    )


def test_list_for_a_program(here, capsys, monkeypatch):
    monkeypatch.setenv("PARAQD_DATA_DIR", "data")
    Path("data/em_math_test.csv").write_text("question,paraphrase,label\nHow many?,x,maybe\n")
    assert run(["lab", "data", "list", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert set(rows) == set(DATASETS)
    assert rows["pawp"]["where"] == "missing" and rows["pawp"]["rows"] is None
    assert rows["pawp"]["files"][0]["sha256"] == DATASETS["pawp"].files[0].sha256
    assert "reporting only" in rows["pawp"]["use"]
    assert "'label' is 'maybe'" in rows["em_math"]["flaw"], "a damaged set does not hide the others"
    assert run(["lab", "data", "list"]) == 0
    assert "damaged" in capsys.readouterr().out


# --- get and path -------------------------------------------------------------------------------


def test_get_then_path(here, served, capsys):
    assert run(["lab", "data", "get", "pawp"]) == 0
    captured = capsys.readouterr()
    where = here / "cache" / "data" / "pawp_test.csv"
    assert (captured.out.strip(), captured.err) == (str(where), "")
    assert run(["lab", "data", "path", "pawp"]) == 0
    assert capsys.readouterr().out.strip() == str(where)
    (here / "www" / "pawp.csv").unlink()
    assert run(["lab", "data", "get", "pawp", "--json"]) == 0, "what is here is not fetched again"
    assert json.loads(capsys.readouterr().out) == {"paths": {"pawp": str(where)}, "failed": {}}
    assert run(["lab", "data", "get", "pawp", "--quiet"]) == 0
    assert capsys.readouterr().out == ""


def test_get_refuses_another_file(here, served, fails):
    (here / "www" / "pawp.csv").write_text("<html>moved</html>")
    assert "is not the known file" in fails("lab", "data", "get", "pawp")
    assert list((here / "cache" / "data").iterdir()) == []


def test_some_fetched_and_some_not_is_code_1(here, served, capsys):
    assert run(["lab", "data", "get", "pawp", "em_math"]) == 1
    captured = capsys.readouterr()
    assert captured.out.strip().endswith("pawp_test.csv")
    assert captured.err.startswith("error: em_math was not found")


def test_get_of_what_cannot_be_fetched(here, fails):
    line = fails("lab", "data", "get", "em_math", "--data-dir", "data")
    assert "put it at data/em_math_test.csv" in line and "--paraphrase-column" in line
    assert "its address is not known" in fails("lab", "data", "get", "aquarat_train_operators").lower()
    assert "did you mean sawp?" in fails("lab", "data", "get", "swap")
    assert "there is no folder nowhere" in fails("lab", "data", "get", "sawp", "--data-dir", "nowhere")


def test_path_of_what_is_not_here(here, fails, capsys):
    line = fails("lab", "data", "path", "sawp")
    assert "paraqd lab data get sawp" in line and "SAWP_test.csv" in line and "PARAQD_DATA_DIR" in line
    Path("data/sawp_test.csv").write_text(PAIRS)
    assert run(["lab", "data", "path", "sawp", "--data-dir", "data"]) == 0
    captured = capsys.readouterr()
    assert captured.out.strip() == "data/sawp_test.csv" and "differs from the known file" in captured.err


# --- build --------------------------------------------------------------------------------------


def test_build_questions(here, capsys):
    corpora(Path("data"))
    command = ["lab", "data", "build", "questions", "-o", "q.jsonl.gz", "--data-dir", "data"]
    assert run([*command, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["rows"] == 3 and [corpus["kept"] for corpus in report["corpora"]] == [1, 1, 1]
    with gzip.open("q.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file]
    assert [row["id"] for row in rows] == ["aqua-00000", "mathqa-00001", "gsm8k-00002"]
    assert rows[1]["question"] == "a pen costs 5 rupees. what do 3 pens cost?" and rows[1]["answer"] == "15"
    assert run([*command, "--overwrite"]) == 0
    assert "in a test set, apart from numbers: 1" in capsys.readouterr().out


def test_build_of_one_corpus_from_a_file(here, capsys):
    corpora(Path("data"))
    Path("mine.jsonl").write_text(json.dumps({"question": "A bag holds 9 nuts. How many are in 2 bags?"}))
    command = ["lab", "data", "build", "questions", "-o", "q.csv", "--corpus", "gsm8k=mine.jsonl", "--data-dir", "data"]
    assert run([*command, "--test-set", "data/aquarat_test.csv"]) == 2, "a file's columns must be the usual ones"
    capsys.readouterr()
    assert run([*command, "--test-set", "aquarat", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert "9 nuts" in Path("q.csv").read_text()


def test_build_of_what_cannot_be_built(here, fails):
    assert "the only choice is questions" in fails("lab", "data", "build", "pairs", "-o", "q.csv")
    line = fails("lab", "data", "build", "questions", "-o", "q.csv", "--data-dir", "data")
    assert "aqua_rat was not found: run paraqd lab data get aqua_rat" in line
    corpora(Path("data"))
    assert "--corpus svamp: use NAME" in fails("lab", "data", "build", "questions", "-o", "q.csv", "--corpus", "svamp")
    Path("data/pawp_test.csv").unlink()
    line = fails("lab", "data", "build", "questions", "-o", "q.csv", "--data-dir", "data")
    assert "pawp was not found" in line and "--test-set" in line
    Path("q.csv").write_text("kept")
    assert "already exists" in fails("lab", "data", "build", "questions", "-o", "q.csv", "--data-dir", "data")
    assert Path("q.csv").read_text() == "kept"
    assert "there is no folder" in fails("lab", "data", "build", "questions", "-o", "none/q.csv", "--data-dir", "data")
