"""The synthetic training text: its format, its files in the repository, and how it is found and downloaded."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from paraqd.lab.corpora.download import get
from paraqd.lab.corpora.synthetic import problem_pairs, read_problems, synthetic_problems
from paraqd.tables import datasets
from paraqd.tables.datasets import DATASETS, DatasetError, load_pairs, state
from paraqd.tables.table import TableError

FOLDER = Path(__file__).parents[3] / "datasets" / "synthetic"
QUESTION = "Ann has 5 pens and Bob has 3. How many more has Ann?"


def row(paraphrase, label=1, **others):
    spans = {"question_spans": [], "paraphrase_spans": []}
    return {
        "id": "t-1",
        "theme": "t",
        "question": QUESTION,
        "paraphrase": paraphrase,
        "label": label,
        **spans,
        **others,
    }


ROWS = [
    row("Bob has 3 pens, Ann 5. How many more are hers?"),
    row("How many more pens has Ann than Bob, if he has three and she has five?"),
    row(
        "Bob has 5 pens, Ann 3. How many more are hers?",
        0,
        kind="number_changed",
        question_spans=[[8, 9], [27, 28]],
        paraphrase_spans=[[8, 9], [20, 21]],
    ),
    row("Bob has 3 pens, Ann 5.", 0, kind="question_lost", question_spans=[[30, 52]]),
]


@pytest.fixture
def write(tmp_path):
    def written(*rows, name="t.jsonl"):
        path = tmp_path / name
        path.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
        return path

    return written


def test_a_problem_makes_pairs_with_itself_and_among_its_paraphrases(write):
    pairs = list(problem_pairs(read_problems([write(*ROWS)])))
    assert sum(pair.label for pair in pairs) == 4  # each with the problem, and both ways with each other
    assert sum(not pair.label for pair in pairs) == 6  # each invalid text with three valid ones
    changed = next(pair for pair in pairs if pair.kind == "number_changed" and pair.source == "synthetic")
    assert [changed.question[a:b] for a, b in changed.question_spans] == ["5", "3"]
    assert [changed.paraphrase[a:b] for a, b in changed.paraphrase_spans] == ["5", "3"]


def test_the_order_depends_on_the_ids_and_not_on_the_files(write):
    late = write(row("x y", id="b-2"), name="a.jsonl")
    early = write(row("x y", id="b-10"), row("x y", id="a-3"), name="b.jsonl")
    assert [problem.id for problem in read_problems([late, early])] == ["a-3", "b-2", "b-10"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (row(" "), "row 1: blank paraphrase"),
        (row("B.", 0, kind="number_gone"), "row 1: the label must be 1, or 0 with a kind of fault"),
        (row("B.", 2), "row 1: the label must be 1"),
        (row("B.", 0, kind="number_lost", paraphrase_spans=[[0, 9]]), "'paraphrase_spans' must be a list of"),
    ],
)
def test_a_wrong_row_is_named(write, wrong, message):
    with pytest.raises(TableError, match=message):
        read_problems([write(wrong)])


def test_one_id_for_two_questions_is_refused(write):
    with pytest.raises(TableError, match="row 2: the id 't-1' already belongs to another question"):
        read_problems([write(row("x y"), row("x y", question="Another?"))])


def test_every_problem_of_the_repository_is_whole():
    problems = synthetic_problems()
    assert len(problems) == len({problem.id for problem in problems}) == 9578
    assert sum(len(problem.valid) for problem in problems) == 19_343
    assert sum(len(problem.invalid) for problem in problems) == 28_421
    for problem in problems:
        texts = [problem.question, *problem.valid, *(each.text for each in problem.invalid)]
        assert problem.valid, problem.id
        assert len(set(texts)) == len(texts), problem.id
        for each in problem.invalid:
            assert each.spans or each.question_spans, (problem.id, each.text)


def test_the_package_lists_the_files_of_the_repository_with_their_hashes():
    listed = {Path(file.name).name: file.sha256 for file in DATASETS["synthetic"].files}
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in FOLDER.glob("*.jsonl")}
    assert listed == found, (
        "run: (cd datasets/synthetic && sha256sum *.jsonl) > src/paraqd/tables/files/synthetic.sha256"
    )
    for path in FOLDER.glob("*.jsonl"):
        assert {json.loads(line)["theme"] for line in path.read_text("utf-8").splitlines()} == {path.stem}


def test_a_clone_has_the_text(monkeypatch):
    monkeypatch.delenv("PARAQD_DATA_DIR", raising=False)
    found = state("synthetic")
    assert (found.where, found.path, found.sound) == ("clone", FOLDER, True)
    assert get("synthetic") == FOLDER
    pairs = load_pairs("synthetic")
    assert len(pairs) == 47_764 and {pair.operator for pair in pairs if pair.label} == {""}


def test_without_a_clone_the_text_is_downloaded(monkeypatch, tmp_path):
    monkeypatch.delenv("PARAQD_DATA_DIR", raising=False)
    monkeypatch.delenv("PARAQD_DATASETS_URL", raising=False)
    monkeypatch.setenv("PARAQD_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(datasets, "_CLONE", tmp_path / "none")
    with pytest.raises(DatasetError, match=r"in the folder datasets of paraqd's repository.*PARAQD_DATASETS_URL"):
        get("synthetic")
    monkeypatch.setenv("PARAQD_DATASETS_URL", FOLDER.parent.as_uri())
    assert get("synthetic") == tmp_path / "data" / "synthetic"
    assert state("synthetic").where == "cache" and state("synthetic").sound is True
    assert len(synthetic_problems()) == 9578
    (tmp_path / "data" / "synthetic" / "pronouns.jsonl").write_text("{}\n")
    with pytest.raises(DatasetError, match="is not the known file of synthetic"):
        get("synthetic")
