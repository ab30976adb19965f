"""Files of questions are paraphrased from Python."""

import numpy as np
import pytest

from paraqd.paraphrasing.choice import Limits
from paraqd.paraphrasing.files import paraphrase_file
from paraqd.paraphrasing.paraphraser import Settings
from paraqd.tables.table import open_table

QUESTION = (
    "Meera bought 12 kg of rice at $4 per kg and 3 kg of sugar at $2 per kg. How much money did she spend in all?"
)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text(f'id,question\nq1,"{QUESTION}"\nq2,"{QUESTION}"\n', encoding="utf-8")
    return tmp_path


def test_the_same_settings_give_the_same_rows_and_another_seed_gives_others(here, rules, scorer):
    for out, seed in (("one.csv", 1), ("again.csv", 1), ("other.csv", 2)):
        paraphrase_file("in.csv", out, settings=Settings(n=2, seed=seed), by=rules, scorer=scorer)
    one, again, other = ((here / name).read_bytes() for name in ("one.csv", "again.csv", "other.csv"))
    assert one == again != other


def test_the_report_counts_each_text_once_and_no_repetition_of_the_question(here, fixed, scorer):
    source = fixed(QUESTION, "How old is the moon?", " How old is the moon? ", "Who is Meera?")
    report = paraphrase_file("in.csv", "out.csv", settings=Settings(n=1, repair=False), by=source, scorer=scorer)
    assert (report.questions, report.candidates, report.passed, report.written) == (2, 4, 0, 0)


@pytest.mark.parametrize("workers", [1, 2])
def test_settings_of_any_kind_reach_the_file_and_other_processes(here, workers):
    settings = Settings(
        n=np.int64(1),
        candidates=np.int64(8),
        seed=np.int64(3),
        repair=np.bool_(True),
        limits=Limits(question=np.float32(0.75)),
        styles=(style for style in ("exam", "plain")),
    )
    report = paraphrase_file("in.csv", "out.jsonl", settings=settings, judge="small", workers=workers, part_rows=1)
    assert report.questions == 2
    assert {row["style"] for row in open_table(here / "out.jsonl").rows()} <= {"exam", "plain"}


def test_a_column_with_another_spelling_of_question_is_used(here, fixed, scorer):
    (here / "bank.csv").write_text(f'Id,QUESTION\nq1,"{QUESTION}"\n', encoding="utf-8")
    said = []
    source = fixed("How old is the moon?")
    report = paraphrase_file("bank.csv", "out.csv", settings=Settings(n=1), by=source, scorer=scorer, say=said.append)
    assert (report.questions, report.candidates) == (1, 1)
    assert said == ["bank.csv has no column 'question'; using 'QUESTION'"]
