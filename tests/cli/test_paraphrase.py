"""Test ``paraqd paraphrase``: its output, its messages, and that it continues where it stopped."""

import csv
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from quiet_server import QuietServer

from paraqd.cli.main import run
from paraqd.scoring.scorer import Scorer

SAMPLES = Path(__file__).parents[2] / "samples" / "questions.csv"
QUESTIONS = (
    "Dana buys 3 notebooks at $2 each and a pen for $1. How much change does she get from a $20 bill?",
    "Meera bought 12 kg of rice at $4 per kg and 3 kg of sugar at $2 per kg. How much money did she spend in all?",
    "A bus travels 120 km in 3 hours. What is its average speed in km per hour?",
)


def write(path, questions, **more):
    rows = [{"id": f"q{number}", "question": text, **more} for number, text in enumerate(questions, start=1)]
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("in.csv", QUESTIONS, grade="5")
    return tmp_path


def test_every_row_has_the_columns_of_its_question_and_its_verdict(here, capsys):
    assert run(["paraphrase", "in.csv", "-o", "out.csv", "-n", "3"]) == 0
    rows = rows_of("out.csv")
    assert list(rows[0]) == (
        "id question grade paraphrase score valid evidence source style edits repaired rank error signature".split()
    )
    assert [row["id"] for row in rows] == ["q1"] * 3 + ["q2"] * 3 + ["q3"] * 3
    scorer = Scorer.load(judge="small")
    for row in rows:
        assert row["question"] == QUESTIONS[int(row["id"][1]) - 1] and row["grade"] == "5"
        assert row["valid"] == "true" and row["source"] == "rules" and json.loads(row["edits"])
        assert float(row["score"]) == pytest.approx(scorer.score(row["question"], row["paraphrase"]).score, abs=1e-3)
        assert row["signature"] == scorer.signature
    assert "9 paraphrases → out.csv" in capsys.readouterr().out


def test_the_output_does_not_depend_on_the_number_of_workers(here):
    assert run(["paraphrase", "in.csv", "-o", "one.jsonl", "-n", "2", "-q", "--part-rows", "1"]) == 0
    assert run(["paraphrase", "in.csv", "-o", "two.jsonl", "-n", "2", "-q", "--part-rows", "1", "--workers", "2"]) == 0
    assert Path("one.jsonl").read_bytes() == Path("two.jsonl").read_bytes()


@pytest.mark.parametrize("out", ["out.xlsx", "out.parquet", "out.tsv.gz", "parts/"])
def test_every_kind_of_output_has_the_same_paraphrases(here, out):
    from paraqd.tables.table import open_table

    assert run(["paraphrase", "in.csv", "-o", "plain.csv", "-n", "1", "-q"]) == 0
    assert run(["paraphrase", "in.csv", "-o", out, "-n", "1", "-q"]) == 0
    files = sorted(Path(out).glob("*.parquet")) if out == "parts/" else [Path(out)]
    rows = [row for file in files for row in open_table(file).rows()]
    assert [row["paraphrase"] for row in rows] == [row["paraphrase"] for row in rows_of("plain.csv")]
    assert [str(row["id"]) for row in rows] == ["q1", "q2", "q3"]


def test_questions_come_from_standard_input(here, monkeypatch):
    line = json.dumps({"id": "a", "question": QUESTIONS[0]}) + "\n"
    command = [sys.executable, "-m", "paraqd", "paraphrase", "-", "-o", "out.jsonl", "-n", "1", "-q"]
    done = subprocess.run(command, input=line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (row,) = map(json.loads, Path("out.jsonl").read_text(encoding="utf-8").splitlines())
    assert (row["id"], row["rank"], row["valid"]) == ("a", 1, True)
    assert isinstance(row["edits"], list)


def test_paraphrases_with_a_low_score_are_left_out(here, capsys):
    assert run(["paraphrase", "in.csv", "-o", "out.csv", "-n", "2", "--least-score", "1"]) == 0
    assert rows_of("out.csv") == []
    assert "valid with a score below 1)" in capsys.readouterr().err
    assert run(["paraphrase", "in.csv", "-o", "out.csv", "--least-score", "1.5"]) == 2
    assert "--least-score 1.5: choose a score from -1 to 1" in capsys.readouterr().err


def test_styles_are_written_into_the_rows(here):
    assert run(["paraphrase", "in.csv", "-o", "out.csv", "-n", "2", "--styles", "exam,engaging", "-q"]) == 0
    assert {row["style"] for row in rows_of("out.csv")} == {"exam", "engaging"}


def test_questions_with_too_few_paraphrases_are_listed_with_the_reason(here, capsys):
    write("in.csv", [QUESTIONS[0], "Which of the following is odd? I. 3x II. 2y", " "])
    assert run(["paraphrase", "in.csv", "-o", "out.csv", "-n", "2"]) == 1
    err = capsys.readouterr().err
    assert "1 question with fewer than 2 paraphrases:" in err
    assert "row 3 (q2): 0 of 2; no rule can rewrite it safely" in err
    assert "could not paraphrase 1 of 3 rows (blank question: row 4 (q3))" in err
    assert "row 4 (q3): 0 of 2" not in err


@pytest.mark.parametrize("out", ["out.csv", "out.jsonl", "out.parquet", "out.xlsx", "parts/"])
def test_a_row_that_cannot_be_used_is_kept_with_the_reason(here, out):
    from paraqd.tables.table import open_table

    write("in.csv", [" ", QUESTIONS[0]], grade="5")
    assert run(["paraphrase", "in.csv", "-o", out, "-n", "1", "-q"]) == 1
    files = sorted(Path(out).glob("*.parquet")) if out == "parts/" else [Path(out)]
    bad, good = [row for file in files for row in open_table(file).rows()]
    assert (bad["id"], str(bad["grade"]), bad["error"]) == ("q1", "5", "blank question")
    assert not bad["paraphrase"] and bad["score"] in (None, "") and bad["rank"] in (None, "")
    assert good["id"] == "q2" and good["paraphrase"] and not good["error"]


def test_rows_are_listed_in_order_with_the_number_of_those_left_out(here, capsys, monkeypatch):
    monkeypatch.setattr("paraqd.paraphrasing.files._NAMED", 3)
    odd = "Which of the following is odd? I. 3x II. 2y"
    write("in.csv", [" ", odd] * 4)
    command = ["paraphrase", "in.csv", "-n", "1", "--part-rows", "1", "-q"]
    assert run([*command, "-o", "out.csv", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert [(each["row"], each["id"]) for each in report["short"]] == [(3, "q2"), (5, "q4"), (7, "q6")]
    assert [(each["row"], each["why"]) for each in report["unusable"]] == [(row, "blank question") for row in (2, 4, 6)]
    assert (report["short_left_out"], report["unusable_left_out"], report["skipped"]) == (1, 1, 4)
    monkeypatch.setattr("paraqd.cli.paraphrase._LISTED", 2)
    assert run([*command, "-o", "again.csv"]) == 1
    err = capsys.readouterr().err
    assert "and 2 more questions; --json lists the first 3" in err
    assert "could not paraphrase 4 of 8 rows (blank question: rows 2 (q1), 4 (q3), 6 (q5); and 1 more row)" in err


def test_the_lists_do_not_depend_on_the_order_in_which_parts_finish(here):
    from paraqd.paraphrasing import files

    class Late:
        """A stand-in for the run, which reports its pieces from the last to the first."""

        resumed, problems = 0, ()

    def carry_out(work, output, options):
        for number in range(1500, 0, -1):
            work.count(None, {"questions": 1, "short": [["in.csv", number, "", 0, "none"]], "unusable": []})
        return Late

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "carry_out", carry_out)
        report = files.paraphrase_file("in.csv", "out.csv", judge="small")
    assert [each.row for each in report.short] == list(range(1, 1001))
    assert report.to_dict()["short_left_out"] == 500


def test_the_report_as_json_counts_what_passed(here, capsys):
    assert run(["paraphrase", "in.csv", "-o", "out.csv", "-n", "2", "--json", "-q"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["questions"], report["complete"], report["written"]) == (3, 3, 6)
    assert report["candidates"] >= report["passed"] >= 6
    assert report["short"] == []


def test_a_column_that_would_be_replaced_is_named(here, fails):
    write("in.csv", QUESTIONS, source="book", rank="7")
    message = fails("paraphrase", "in.csv", "-o", "out.csv")
    assert "in.csv already has the columns source, rank; pass --overwrite-columns to replace them" in message
    assert run(["paraphrase", "in.csv", "-o", "out.csv", "-n", "1", "--overwrite-columns", "-q"]) == 0
    assert {row["source"] for row in rows_of("out.csv")} == {"rules"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--styles", "pirate"], "the source rules cannot write in the style 'pirate': choose among plain"),
        (
            ["--source", "./no-such-folder"],
            "'./no-such-folder', which does not exist; choose the folder of a model, rules",
        ),
        (["--most-overlap", "2"], "--most-overlap 2: choose a limit above 0 and at most 1"),
        (["--most-overlap", "0"], "--most-overlap 0: choose a limit above 0 and at most 1"),
        (["--most-alike", "nan"], "--most-alike nan: choose a limit above 0 and at most 1"),
        (["--candidates", "1"], "--candidates 1: 1 candidate cannot give 5 paraphrases; ask for more"),
        (["-n", "1000000000"], "n is 1,000,000,000: ask for at most 1,000 paraphrases of a question"),
        (["--device", "cpu"], "--device is for a model that runs on this machine: pass --source MODEL"),
        (["--source", "https://example.org/v1", "--device", "cpu"], "--device is for a model"),
        (["--source", "http://[::1/v1"], "http://[::1/v1 is not the address of an endpoint"),
        (["--source", "HTTPS://example.org/v1", "--workers", "2"], "an endpoint needs no workers"),
        (["--source", "https://"], "is not the address of an endpoint"),
        (["--source", "https://example.org/v1", "--workers", "2"], "an endpoint needs no workers"),
        (["--question-column", "text"], "no column 'text'"),
    ],
)
def test_a_mistake_is_one_line(here, fails, arguments, message):
    assert message in fails("paraphrase", "in.csv", "-o", "out.csv", *arguments)
    assert not Path("out.csv").exists() and not Path("out.csv.parts").exists()


def test_options_of_an_endpoint_need_an_endpoint(here, capsys):
    assert run(["paraphrase", "in.csv", "-o", "out.csv", "--most-requests", "5"]) == 2
    assert "pass --source https://HOST/v1" in capsys.readouterr().err


def test_the_help_names_the_variable_with_the_key(capsys, monkeypatch):
    from paraqd.paraphrasing.sources.endpoint import KEY_VARIABLE

    monkeypatch.setenv("COLUMNS", "200")
    assert run(["paraphrase", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert f"Default: {KEY_VARIABLE}." in shown
    assert "OPENAI_API_KEY" not in shown


@pytest.mark.skipif(os.name == "nt", reason="signals differ")
@pytest.mark.parametrize("answers", [None, b"HTTP/1.1 503 Busy\r\nRetry-After: 50\r\nContent-Length: 0\r\n\r\n"])
def test_ctrl_c_ends_a_run_whose_endpoint_does_not_answer(here, answers):
    pytest.importorskip("httpx")
    asked = threading.Event()
    held = []

    def serve(server):
        with suppress(OSError):
            while True:
                connection = server.accept()[0]
                held.append(connection)
                connection.recv(65536)
                if answers:
                    connection.sendall(answers)
                asked.set()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, args=(server,), daemon=True).start()
        command = [
            sys.executable,
            "-m",
            "paraqd",
            "paraphrase",
            "in.csv",
            "-o",
            "out.csv",
            "-q",
            "--endpoint-model",
            "m",
        ]
        command += ["--source", f"http://127.0.0.1:{server.getsockname()[1]}/v1", "--cache", "cache"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            assert asked.wait(60)
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            err = process.communicate(timeout=15)[1]
        finally:
            process.kill()
    assert process.returncode == 130
    assert "Traceback" not in err


@pytest.mark.skipif(os.name == "nt", reason="signals differ")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_run_continues_and_gives_the_same_bytes(here, how):
    questions = [row["question"] for row in rows_of(SAMPLES)][:24]
    write("many.csv", questions)
    command = [sys.executable, "-m", "paraqd", "paraphrase", "many.csv", "-n", "2", "--part-rows", "2", "-q"]
    whole = subprocess.run([*command, "-o", "whole.csv"], check=False, capture_output=True, text=True)
    assert whole.returncode in (0, 1), whole.stderr
    process = subprocess.Popen([*command, "-o", "out.csv"], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not list(Path().glob("out.csv.parts/part-*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(how)
    err = process.communicate()[1]
    assert not Path("out.csv").exists()
    if how is signal.SIGINT:
        assert process.returncode == 130
        assert "finished and kept in out.csv.parts; run the same command again to continue" in err
    again = subprocess.run([*command, "-o", "out.csv"], check=False, capture_output=True, text=True)
    assert "continuing after" in again.stderr
    assert Path("out.csv").read_bytes() == Path("whole.csv").read_bytes()
    assert not Path("out.csv.parts").exists()


@pytest.fixture
def endpoint():
    """Start a server that stops working after a number of answers."""

    class Handler(BaseHTTPRequestHandler):
        works, refused = 2, None

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            question = body["messages"][1]["content"].rpartition("\n\n")[2]
            works = type(self).works > 0
            type(self).works -= 1
            texts = [f"Let us see what follows from these facts. {question.replace('How much', 'What amount of')}"]
            answer = {"choices": [{"message": {"content": json.dumps(texts)}}]}
            content = json.dumps(answer if works else {"error": {"message": "quota used up"}}).encode()
            self.send_response(400 if question == self.refused else 200 if works else 403)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments):
            pass

    server = QuietServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server, Handler
    server.shutdown()
    server.server_close()


def test_what_an_endpoint_answered_before_it_failed_is_kept(here, endpoint, capsys, monkeypatch):
    pytest.importorskip("httpx")
    monkeypatch.delenv("PARAQD_ENDPOINT_KEY", raising=False)
    server, handler = endpoint
    address = f"http://127.0.0.1:{server.server_port}/v1"
    command = ["paraphrase", "in.csv", "-o", "out.csv", "-n", "1", "--source", address, "--endpoint-model", "m"]
    command += ["--cache", "cache", "--part-rows", "1", "--most-overlap", "1", "-q"]
    assert run(command) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "answered 403: quota used up; put the key into the variable PARAQD_ENDPOINT_KEY" in err
    assert "2 rows finished before are kept in out.csv.parts: run the same command again to continue" in err
    handler.works = 1  # enough for the one question that is left
    assert run(command) in (0, 1)
    assert handler.works == 0
    assert rows_of("out.csv")
    assert {row["source"] for row in rows_of("out.csv")} == {"m@127.0.0.1"}


def test_a_question_that_an_endpoint_refuses_is_listed_and_the_others_are_written(here, endpoint, capsys, monkeypatch):
    pytest.importorskip("httpx")
    monkeypatch.setenv("PARAQD_ENDPOINT_KEY", "x")
    server, handler = endpoint
    handler.works, handler.refused = 9, QUESTIONS[1]
    address = f"http://127.0.0.1:{server.server_port}/v1"
    command = ["paraphrase", "in.csv", "-o", "out.csv", "-n", "1", "--source", address, "--endpoint-model", "m"]
    assert run([*command, "--cache", "cache", "--most-overlap", "1", "--no-gate", "-q"]) == 0
    assert "row 3 (q2): 0 of 1; the endpoint refused it: it answered 400" in capsys.readouterr().err
    rows = rows_of("out.csv")
    assert [row["id"] for row in rows] == ["q1", "q3"]
    assert not any("***" in row["paraphrase"] for row in rows)


def test_a_run_that_is_resumed_with_other_settings_names_them(here, endpoint, fails, monkeypatch):
    pytest.importorskip("httpx")
    monkeypatch.delenv("PARAQD_ENDPOINT_KEY", raising=False)
    command = ["paraphrase", "in.csv", "-o", "out.csv", "--source", f"http://127.0.0.1:{endpoint[0].server_port}/v1"]
    command += ["--endpoint-model", "m", "--cache", "cache", "--part-rows", "1", "--candidates", "4", "-q"]
    fails(*command, "-n", "2")
    message = fails(*command, "-n", "3")
    assert "the unfinished run in out.csv.parts has n=2, not 3; use the same options" in message
    message = fails(*command, "-n", "2", "--seed", "1", "--most-alike", "0.5")
    assert "has another seed (3407, now 1) and limits.others=0.8, not 0.5; use" in message
