"""``paraqd lab annotate``: driven by lines and at a real terminal, killed and gone on with, merged and counted."""

import io
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import paraqd
from paraqd.cli.main import run
from paraqd.lab.annotation.journals import Session, open_journal, read_journal
from paraqd.lab.annotation.pairs_to_label import read_pairs_to_label
from paraqd.lab.cli.annotate_screen import Pace, progress

HEADER = "id,question,paraphrase,label,operator,paper_id,intended"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PARAQD_DEBUG", raising=False)
    rows = []
    for i in range(3):
        rows.append(f"q{i},Tom has {i + 2} apples. How many?,Tom owns {i + 2} apples. How many?,,ActivePassive,fa,1")
        rows.append(f"q{i},Tom has {i + 2} apples. How many?,Tom has apples. How many?,,RandomDeletion,fd,0")
    Path("pairs.csv").write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def typed(monkeypatch, capsys):
    """Run a command with lines on standard input; return its exit code and what it wrote."""

    def run_typed(keys, *arguments):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{key}\n" for key in keys)))
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run_typed


@pytest.fixture
def fails(typed):
    """Run a command that must fail, and return its one line."""

    def failing(*arguments):
        code, out, err = typed([], *arguments)
        assert (code, out) == (2, ""), (code, out, err)
        assert err.startswith("error: ") and err.count("\n") == 1 and "Traceback" not in err, err
        return err.strip()

    return failing


def labelled_as_intended(name, wrong=()):
    """Write a journal that says what was intended, but for some rows."""
    pairs = read_pairs_to_label("pairs.csv")
    with open_journal(f"{name}.jsonl", pairs, annotator=name) as journal:
        for item in pairs.pairs:
            label = int(item.row["intended"])
            journal.decide(item.key, 1 - label if item.number - 1 in wrong else label)


# --- labelling, by lines


def test_labels_notes_and_a_summary(here, typed):
    code, out, err = typed(
        [*"v 1 i 0 s n?".split(), "n a remark", "v"], "lab", "annotate", "pairs.csv", "--annotator", "ann"
    )
    assert code == 0
    assert out == "ann: 5 of 6 labelled (3 valid, 2 invalid), 1 skipped; saved in pairs.ann.jsonl\n"
    assert "unknown key 'n?'" in err
    header, decisions = read_journal("pairs.ann.jsonl")
    assert header.annotator == "ann"
    assert [label for _, label in decisions.made] == [1, 1, 0, 0, None, 1]
    assert list(decisions.notes.values()) == ["a remark"]


def test_what_is_shown_is_blind_and_marks_what_differs(here, typed):
    _, _, err = typed(["?", "q"], "lab", "annotate", "pairs.csv", "--annotator", "ann")
    assert "0 of 6 labelled" in err
    assert re.search(r"Tom \[-has-\] \d apples|Tom has \[-\d", err), err
    assert "same equations" in err
    for hidden in ("ActivePassive", "RandomDeletion", "intended", "q0", "q1", "q2"):
        assert hidden not in err


def test_a_text_cannot_command_the_terminal(here, typed):
    Path("pairs.jsonl").write_text(json.dumps({"question": "a\x1b[2Jb", "paraphrase": "a\x07 [red]b[/red]"}))
    _, _, err = typed(["q"], "lab", "annotate", "pairs.jsonl", "--annotator", "ann")
    assert "\x1b" not in err and "\x07" not in err
    assert "[red]b[/red]" in err.replace("{+", "").replace("+}", "")


def test_quitting_and_going_on_gives_the_same_journal(here, typed):
    keys = ["v", "i", "v", "n hm", "i", "v", "i"]
    typed(keys, "lab", "annotate", "pairs.csv", "--annotator", "ann", "-o", "whole.jsonl")
    for piece in ([*keys[:2], "q"], keys[2:4], keys[4:]):
        assert typed(piece, "lab", "annotate", "pairs.csv", "--annotator", "ann")[0] == 0
    assert Path("pairs.ann.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()


def test_undo_also_at_the_end_and_in_the_next_session(here, typed):
    typed("vvvvvv", "lab", "annotate", "pairs.csv", "--annotator", "ann")
    code, out, err = typed("uuii", "lab", "annotate", "pairs.csv", "--annotator", "ann")
    assert (code, "4 valid, 2 invalid" in out) == (0, True)
    assert "That was the last pair" in err
    _, out, err = typed("uuuuuuuvq", "lab", "annotate", "pairs.csv", "--annotator", "ann")
    assert "nothing to undo" in err
    assert out.startswith("ann: 1 of 6 labelled (1 valid, 0 invalid);")


def test_as_json_and_quiet(here, typed):
    _, out, _ = typed("vi", "lab", "annotate", "pairs.csv", "--annotator", "ann", "--json")
    assert json.loads(out) == {
        "annotator": "ann",
        "journal": "pairs.ann.jsonl",
        "pairs": 6,
        "labelled": 2,
        "valid": 1,
        "invalid": 1,
        "skipped": 0,
    }
    assert typed("v", "lab", "annotate", "pairs.csv", "--annotator", "ann", "--quiet")[:2] == (0, "")


def test_the_login_is_the_annotator_unless_one_is_named(here, typed, monkeypatch):
    monkeypatch.setenv("LOGNAME", "eve.x y")
    typed("v", "lab", "annotate", "pairs.csv")
    assert read_journal("pairs.eve_x_y.jsonl")[0].annotator == "eve_x_y"


def test_options_may_come_before_the_pairs(here, typed):
    assert typed("v", "lab", "annotate", "--annotator", "ann", "pairs.csv")[0] == 0
    assert typed("v", "lab", "annotate", "label", "pairs.csv", "--annotator", "ann")[0] == 0
    assert len(read_journal("pairs.ann.jsonl")[1].labels) == 2


def test_help_has_examples(capsys):
    for command in ([], ["label"], ["merge"], ["export"], ["stats"]):
        assert run(["lab", "annotate", *command, "--help"]) == 0
        assert "Example: paraqd lab annotate" in capsys.readouterr().out


def test_pace_and_time_left(here):
    now = [0.0]
    pace = Pace(clock=lambda: now[0])
    pairs = read_pairs_to_label("pairs.csv")
    with open_journal("j.jsonl", pairs, annotator="ann") as journal:
        session = Session(journal, pairs)
        assert progress(session, pace) == "0 of 6 labelled"
        for seconds in (50, 5000, 40):  # with a break in between
            pace.shown()
            now[0] += seconds
            session.decide(1)
            pace.decided()
        session.decide(None)
        assert progress(session, pace) == "3 of 6 labelled · 1 skipped · 50 s each · about 2 min left"


# --- merging


def test_merge_says_kappa_and_writes_one_file(here, typed):
    labelled_as_intended("ann")
    labelled_as_intended("bob", wrong=[3])
    code, out, err = typed([], "lab", "annotate", "merge", "pairs.csv", "ann.jsonl", "bob.jsonl", "-o", "merged.csv")
    assert code == 1  # one pair is in dispute
    assert "0.67 (substantial)" in out and "83.3%" in out
    assert err == (
        "1 pair in dispute (kept without a label): row 4; "
        "to settle disputes, run paraqd lab annotate PAIRS with --resolve\n"
    )
    lines = Path("merged.csv").read_text().splitlines()
    assert lines[0] == f"{HEADER},annotators,agreed,annotator_notes"
    assert lines[3].endswith(",,ActivePassive,fa,1,ann=1; bob=0,false,")
    command = ["lab", "annotate", "merge", "pairs.csv", "ann.jsonl", "bob.jsonl", "-o", "merged.csv", "--overwrite"]
    code, out, _ = typed([], *command, "--drop-open", "--json", "--disagreements", "open.csv")
    report = json.loads(out)
    assert (code, report["written"], report["open"], report["disagreed"]) == (0, 5, 1, 1)
    assert report["agreement"][0]["kappa"] == pytest.approx(2 / 3)
    assert report["agreement"][0]["table"] == [[3, 0], [1, 2]]
    assert len(Path("merged.csv").read_text().splitlines()) == 6
    assert len(Path("open.csv").read_text().splitlines()) == 2


def test_a_third_annotator_sees_only_the_disagreements_and_settles_them(here, typed):
    labelled_as_intended("ann")
    labelled_as_intended("bob", wrong=[2, 3])
    resolve = ["--resolve", "ann.jsonl", "--resolve", "bob.jsonl"]
    _, out, err = typed("vi", "lab", "annotate", "pairs.csv", "--annotator", "carl", *resolve)
    assert "0 of 2 labelled" in err
    assert out.startswith("carl: 2 of 2 labelled (1 valid, 1 invalid)")
    sources = ["ann.jsonl", "bob.jsonl", "pairs.carl.jsonl"]
    code, out, err = typed([], "lab", "annotate", "merge", "pairs.csv", *sources, "-o", "merged.csv", "--json")
    report = json.loads(out)
    assert (code, err, report["open"], report["disagreed"]) == (0, "", 0, 2)
    assert [(found["first"], found["second"]) for found in report["agreement"]] == [("ann", "bob")]


def test_nobody_labelled_some(here, typed):
    typed("v", "lab", "annotate", "pairs.csv", "--annotator", "ann")
    code, _, err = typed([], "lab", "annotate", "merge", "pairs.csv", "pairs.ann.jsonl", "-o", "merged.csv")
    assert code == 1
    assert err.startswith("5 pairs not labelled by anyone (kept without a label): rows ")


def test_one_annotator_agrees_with_nobody(here, typed):
    labelled_as_intended("ann")
    code, out, _ = typed([], "lab", "annotate", "merge", "pairs.csv", "ann.jsonl", "-o", "merged.csv")
    assert code == 0
    assert "one annotator only, so there is no agreement to measure" in out and "disagreed" not in out
    _, out, _ = typed([], "lab", "annotate", "merge", "pairs.csv", "ann.jsonl", "-o", "m.csv", "--json")
    assert json.loads(out)["disagreed"] is None and json.loads(out)["agreement"] == []


def test_two_who_labelled_different_pairs(here, typed):
    for name, row in (("ann", 0), ("bob", 1)):
        pairs = read_pairs_to_label("pairs.csv")
        with open_journal(f"{name}.jsonl", pairs, annotator=name) as journal:
            journal.decide(pairs.pairs[row].key, 1)
    code, out, _ = typed([], "lab", "annotate", "merge", "pairs.csv", "ann.jsonl", "bob.jsonl", "-o", "merged.csv")
    assert code == 1
    assert "pairs labelled by each annotator: ann 1, bob 1" in out
    assert "no pair was labelled by two annotators, so there is no agreement to measure" in out


def test_an_annotator_who_labelled_nothing(here, typed, fails):
    labelled_as_intended("ann")
    typed([], "lab", "annotate", "export", "pairs.csv", "--annotator", "bob", "-o", "bob.csv")
    line = fails("lab", "annotate", "merge", "pairs.csv", "ann.jsonl", "bob.csv", "-o", "merged.csv")
    assert "bob labelled nothing: 0 of 6 pairs have a label in bob.csv" in line and "omit bob" in line
    assert not Path("merged.csv").exists()
    typed("q", "lab", "annotate", "pairs.csv", "--annotator", "eve")
    assert "eve labelled nothing: 0 of 6" in fails(
        "lab", "annotate", "merge", "pairs.csv", "pairs.eve.jsonl", "-o", "m.csv"
    )
    line = fails(
        "lab", "annotate", "pairs.csv", "--annotator", "carl", "--resolve", "ann.jsonl", "--resolve", "bob.csv"
    )
    assert "bob labelled nothing" in line, "it is not that they do not disagree on any pair"


def test_spreadsheets_go_out_and_come_back(here, typed):
    labelled_as_intended("ann")
    code, _, err = typed([], "lab", "annotate", "export", "pairs.csv", "--annotator", "bob", "-o", "bob.csv")
    assert (code, err) == (0, "6 pairs in bob.csv; write 1 (valid) or 0 (invalid) in the column label\n")
    text = Path("bob.csv").read_text(encoding="utf-8-sig")
    Path("bob.csv").write_text(text.replace("label", "Verdict").replace(",\n", ",1\n"), encoding="utf-8")
    command = ["lab", "annotate", "merge", "pairs.csv", "ann.jsonl", "bob.csv", "-o", "merged.csv", "--json"]
    assert "--label-column" in typed([], *command)[2]
    code, out, _ = typed([], *command, "--label-column", "Verdict")
    found = json.loads(out)["agreement"][0]
    assert (found["first"], found["second"], found["kappa"], found["table"]) == ("ann", "bob", 0, [[0, 3], [0, 3]])


# --- statistics


def test_statistics_of_operators(here, typed):
    labelled_as_intended("ann", wrong=[1, 3, 6])
    typed([], "lab", "annotate", "merge", "pairs.csv", "ann.jsonl", "-o", "merged.csv", "-q")
    code, out, _ = typed([], "lab", "annotate", "stats", "merged.csv")
    assert code == 0
    assert re.search(r"ActivePassive +fa +valid +3 +1 +2 +33.3%", out)
    assert "precision 0.33, recall 0.50, accuracy 0.50" in out
    assert "the paper's average over three data sets: precision 0.40, recall 0.59, accuracy 0.56" in out
    _, out, _ = typed([], "lab", "annotate", "stats", "merged.csv", "merged.csv", "--json")
    data = json.loads(out)
    assert data["average"]["precision"] == pytest.approx(1 / 3)
    assert data["files"]["merged.csv"]["matrix"] == [[2, 1], [2, 1]]


def test_statistics_drawn(here, typed):
    pytest.importorskip("matplotlib")
    labelled_as_intended("ann", wrong=[1])
    typed([], "lab", "annotate", "merge", "pairs.csv", "ann.jsonl", "-o", "merged.csv", "-q")
    assert typed([], "lab", "annotate", "stats", "merged.csv", "--plot", "operators.png", "--json")[0] == 0
    assert Path("operators.png").read_bytes().startswith(b"\x89PNG")


# --- bad input


def test_pairs_that_cannot_be_annotated(here, fails):
    assert "there is no file none.csv" in fails("lab", "annotate", "none.csv")
    assert "PAIRS must be a file" in fails("lab", "annotate", "-")
    Path("empty.csv").write_text("question,paraphrase\n")
    assert "empty.csv has no rows" in fails("lab", "annotate", "empty.csv")
    Path("other.csv").write_text("question,augmented\na,b\n")
    assert "did you mean --paraphrase-column augmented?" in fails("lab", "annotate", "other.csv")
    Path("twice.csv").write_text("question,paraphrase\na,b\na,b\n")
    assert "rows 2 and 3 are the same pair" in fails("lab", "annotate", "twice.csv")
    assert "--annotator" in fails("lab", "annotate", "pairs.csv", "--annotator", "a/b")
    assert "is not a journal" in fails("lab", "annotate", "pairs.csv", "-o", "pairs.csv")
    assert "Missing argument" in fails("lab", "annotate", "merge", "pairs.csv", "-o", "x.csv")


def test_a_pairs_file_that_changed(here, typed, fails):
    typed("v", "lab", "annotate", "pairs.csv", "--annotator", "ann")
    Path("pairs.csv").write_text(Path("pairs.csv").read_text().replace("2 apples", "9 apples"))
    assert "pairs in pairs.csv have changed since pairs.ann.jsonl" in fails(
        "lab", "annotate", "pairs.csv", "--annotator", "ann"
    )
    assert "have changed since" in fails("lab", "annotate", "merge", "pairs.csv", "pairs.ann.jsonl", "-o", "m.csv")


def test_annotators_that_cannot_be_merged(here, fails):
    labelled_as_intended("ann")
    labelled_as_intended("bob")
    Path("copy.jsonl").write_bytes(Path("ann.jsonl").read_bytes())
    merge = ["lab", "annotate", "merge", "pairs.csv"]
    assert "ann appears twice" in fails(*merge, "ann.jsonl", "copy.jsonl", "-o", "m.csv")
    Path("bad.csv").write_text("question,paraphrase,label\nTom has 2 apples. How many?,Tom has apples. How many?,3\n")
    assert "the label of row 2 is '3'" in fails(*merge, "ann.jsonl", "bad.csv", "-o", "m.csv")
    assert "there is no file none.jsonl" in fails(*merge, "none.jsonl", "-o", "m.csv")
    assert "ann.jsonl is also an input" in fails(*merge, "ann.jsonl", "-o", "ann.jsonl", "--overwrite")
    Path("m.csv").write_text("precious")
    assert "pass --overwrite" in fails(*merge, "ann.jsonl", "bob.jsonl", "-o", "m.csv")
    assert "agree on every pair that they labelled" in fails(
        "lab", "annotate", "pairs.csv", "--resolve", "ann.jsonl", "--resolve", "bob.jsonl"
    )
    assert Path("m.csv").read_text() == "precious"


def test_files_without_statistics(here, fails):
    assert "none of the 6 rows has an annotated label" in fails("lab", "annotate", "stats", "pairs.csv")
    Path("plain.csv").write_text("question,paraphrase,label\na,b,1\n")
    assert "plain.csv has no column 'operator'" in fails("lab", "annotate", "stats", "plain.csv")
    Path("bad.csv").write_text("operator,intended,label\nA,1,1\nA,1,yes\n")
    assert "bad.csv: row 3 has the label 'yes'; it must be 0 or 1" in fails("lab", "annotate", "stats", "bad.csv")


# --- at a terminal


class Terminal:
    """The program at a pseudo-terminal of its own."""

    def __init__(self, *arguments):
        import pty

        self.master, slave = pty.openpty()
        environment = dict(os.environ, PYTHONPATH=str(Path(paraqd.__file__).parents[1]), TERM="xterm", COLUMNS="100")
        command = [sys.executable, "-m", "paraqd.cli.main", "lab", "annotate", *arguments]
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment)
        os.close(slave)
        self.seen = ""

    def wait_for(self, text):
        """Read until the text is on the screen, and forget what came before it."""
        end = time.monotonic() + 60
        while text not in self.seen:
            assert time.monotonic() < end, f"{text!r} did not come; on the screen: {self.seen}"
            if select.select([self.master], [], [], 0.2)[0]:
                try:
                    self.seen += os.read(self.master, 4096).decode("utf-8", "replace")
                except OSError:  # the other side is closed
                    assert text in self.seen, self.seen
        self.seen = self.seen[self.seen.index(text) + len(text) :]

    def press(self, keys):
        os.write(self.master, keys.encode())

    def end(self):
        self.process.wait(timeout=60)
        os.close(self.master)
        return self.process.returncode


@pytest.fixture
def terminal(here):
    pytest.importorskip("termios")
    opened = []

    def start(*arguments):
        opened.append(Terminal(*arguments))
        return opened[-1]

    yield start
    for one in opened:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()


def test_single_keys_at_a_terminal(terminal):
    screen = terminal("pairs.csv", "--annotator", "ann")
    screen.wait_for("0 of 6 labelled")
    screen.press("v")  # no Enter
    screen.wait_for("1 of 6 labelled")
    screen.press("\x1b[A")  # an arrow key is one unknown key, not three
    screen.wait_for("unknown key")
    screen.press("n")
    screen.wait_for("note (leave blank to remove it)")
    screen.press("schön\n")
    screen.wait_for("noted")
    screen.press("iu0vi1i")  # typed ahead
    screen.wait_for("That was the last pair")
    screen.press("u")
    screen.wait_for("5 of 6 labelled")
    screen.press("vx")
    screen.wait_for("ann: 6 of 6 labelled (4 valid, 2 invalid)")
    assert screen.end() == 0
    assert list(read_journal("pairs.ann.jsonl")[1].notes.values()) == ["schön"]


def test_kill_9_in_the_middle_and_going_on_end_with_the_same_file(terminal, typed):
    keys = "viviuvi"  # six pairs, one of them undone and decided again
    typed(keys, "lab", "annotate", "pairs.csv", "--annotator", "ann", "-o", "whole.jsonl")
    screen = terminal("pairs.csv", "--annotator", "ann")
    screen.wait_for("0 of 6 labelled")
    screen.press(keys[:4])
    screen.wait_for("4 of 6 labelled")
    screen.process.send_signal(signal.SIGKILL)
    assert screen.end() == -signal.SIGKILL
    assert len(read_journal("pairs.ann.jsonl")[1].labels) == 4
    screen = terminal("pairs.csv", "--annotator", "ann")
    screen.wait_for("4 of 6 labelled")
    screen.press(keys[4:])  # the first of them undoes what was decided before the kill
    screen.wait_for("5 of 6 labelled")
    screen.press("v")
    screen.wait_for("That was the last pair")
    screen.press("q")
    screen.wait_for("6 of 6 labelled")
    assert screen.end() == 0
    typed("v", "lab", "annotate", "pairs.csv", "--annotator", "ann", "-o", "whole.jsonl")
    assert Path("pairs.ann.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()


def test_ctrl_c_and_ctrl_d_lose_nothing(terminal):
    screen = terminal("pairs.csv", "--annotator", "ann")
    screen.wait_for("0 of 6 labelled")
    screen.press("v")
    screen.wait_for("1 of 6 labelled")
    screen.process.send_signal(signal.SIGINT)
    screen.wait_for("stopped; run the same command again to continue")
    assert screen.end() == 130
    screen = terminal("pairs.csv", "--annotator", "ann")
    screen.wait_for("1 of 6 labelled")
    screen.press("i\x04")
    screen.wait_for("ann: 2 of 6 labelled (1 valid, 1 invalid)")
    assert screen.end() == 0


def test_the_terminal_is_left_as_it_was(terminal):
    import termios

    screen = terminal("pairs.csv", "--annotator", "ann")
    before = termios.tcgetattr(screen.master)
    screen.wait_for("0 of 6 labelled")
    screen.press("v")
    screen.wait_for("1 of 6 labelled")
    assert not termios.tcgetattr(screen.master)[3] & termios.ICANON
    screen.press("q")
    screen.wait_for("1 of 6 labelled")
    screen.process.wait(timeout=60)
    assert termios.tcgetattr(screen.master) == before
    assert screen.end() == 0
