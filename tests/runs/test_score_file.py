"""Test the Python function behind ``paraqd score``."""

import csv
import subprocess
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from paraqd import Scorer, score_file
from paraqd.runs.run import RunInterrupted
from paraqd.runs.score import Model
from paraqd.tables.table import TableError
from tests.runs.conftest import environment


def pairs(count):
    for i in range(count):
        question = f"Tom has {i + 2} apples and buys {i % 7 + 3} more. How many apples has he now?"
        yield question, question.replace("buys", "gets") if i % 3 else question.replace(f"{i % 7 + 3} more", "more")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open("in.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("question", "paraphrase"), *pairs(600), ("", "no question")])
    return tmp_path


def test_the_report(here):
    told = []
    report = score_file("in.csv", "out.csv", scorer="reading", progress=lambda *news: told.append(news))
    assert (report.rows, report.valid, report.invalid, report.errors) == (601, 400, 200, 1)
    assert report.error_rows == (("in.csv", 602, "blank question", ""),)
    assert dict(report.faults) == {"number_lost": 200}
    assert report.signature == Scorer.load("reading").signature and report.threshold == 0.5
    assert (report.damage, report.problems, report.resumed, report.parts) == ((), (), 0, 3)
    assert [news for news in told if news[0] == "scoring"] == [("scoring", done, 601) for done in (0, 256, 512, 601)]
    with pytest.raises(FrozenInstanceError):
        report.rows = 5


@pytest.mark.parametrize("scorer", [None, "reading", Model("reading", threshold=0.9), Scorer.load("reading")])
def test_a_scorer_by_name_by_its_settings_or_loaded(here, scorer):
    Path("few.csv").write_text("".join(Path("in.csv").read_text().splitlines(keepends=True)[:20]))
    report = score_file(Path("few.csv"), Path("out.jsonl"), scorer=scorer, only="invalid")
    assert report.threshold == (0.9 if isinstance(scorer, Model) else 0.5)
    assert len(Path("out.jsonl").read_text().splitlines()) == report.written == report.invalid > 0


@pytest.mark.usefixtures("faulty_rule")
def test_a_fault_in_one_comparison_is_the_error_of_its_row(here):
    rows = Path("in.csv").read_text().splitlines(keepends=True)
    Path("odd.csv").write_text("".join([*rows[:300], "5 faulty pens?,6 faulty pens?\n", *rows[300:400]]))
    report = score_file("odd.csv", "odd-out.csv", scorer="reading")
    why = "the pair could not be scored (ZeroDivisionError: a [31mrule failed): please report it with both texts"
    assert report.error_rows == (("odd.csv", 301, why, ""),) and report.rows == 400
    score_file("in.csv", "out.csv", scorer="reading")
    scored = Path("odd-out.csv").read_text().splitlines()
    assert [*scored[:300], *scored[301:]] == Path("out.csv").read_text().splitlines()[:400]
    assert why in scored[300]


def test_several_workers_write_the_same_file(here):
    score_file("in.csv", "one.csv", scorer="reading")
    report = score_file("in.csv", "two.csv", scorer="reading", workers=2)
    assert report.rows == 601
    assert Path("one.csv").read_bytes() == Path("two.csv").read_bytes()
    with pytest.raises(TableError, match="pass its name or folder"):
        score_file("in.csv", "three.csv", scorer=Scorer.load("reading"), workers=2)


def test_an_interrupt_says_what_is_kept(here):
    def stop(stage, done, total, note=""):
        if (stage, done) == ("scoring", 512):
            raise KeyboardInterrupt

    with pytest.raises(RunInterrupted) as caught:
        score_file("in.csv", "out.csv", scorer="reading", progress=stop)
    assert (caught.value.rows, caught.value.total, caught.value.kept) == (512, 601, "out.csv.parts")
    assert (caught.value.parts, caught.value.total_parts) == (2, 3)
    remarks = []
    assert score_file("in.csv", "out.csv", scorer="reading", say=remarks.append).resumed == 512
    assert remarks == ["continuing after 512 rows that were finished before"]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"only": "good"}, "choose valid, invalid or review"),
        ({"engine": "steam"}, "choose local or ray"),
        ({"workers": 0}, "at least one"),
        ({"address": "auto"}, "pass engine='ray'"),
        ({"threads": 2, "workers": 2}, "threads=2 cannot be combined"),
    ],
)
def test_settings_that_cannot_be_used(here, options, line):
    with pytest.raises(TableError, match=line):
        score_file("in.csv", "out.csv", scorer="reading", **options)
    assert not Path("out.csv").exists() and not Path("out.csv.parts").exists()


def test_a_csv_needs_no_pyarrow_and_importing_the_package_loads_no_run(here):
    code = (
        "import sys, paraqd; assert not [name for name in sys.modules if name.startswith('paraqd.runs')]; "
        "sys.modules['pyarrow'] = None; "
        "assert paraqd.score_file('in.csv', 'out.csv', scorer='reading').rows == 601; "
        "assert paraqd.score_file('in.csv', 'two.csv', scorer='reading', workers=2).rows == 601"
    )
    program = f"if __name__ == '__main__':\n    {code}\n"
    Path("program.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "program.py"], env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_unknown_options_are_refused(here):
    with pytest.raises(TypeError, match="unknown option 'part_row'"):
        score_file("in.csv", "out.csv", scorer="reading", part_row=5)
    assert not Path("out.csv").exists()


@pytest.mark.parametrize("part_rows", [0, -5])
def test_parts_have_at_least_one_row(here, part_rows):
    with pytest.raises(TableError, match=f"part_rows={part_rows}: at least one is needed"):
        score_file("in.csv", "out.csv", scorer="reading", part_rows=part_rows)
    assert not Path("out.csv").exists()


def test_a_file_with_missing_rows_is_not_written(here):
    def lazy(job, pieces, on_rows):
        yield from job.worker().work(pieces[:-1], on_rows)

    with pytest.raises(RuntimeError, match="512 rows were counted, but the input has 601"):
        score_file("in.csv", "out.csv", scorer="reading", engine=lazy)
    assert not Path("out.csv").exists()
