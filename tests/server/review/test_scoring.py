import asyncio

import pytest

from paraqd.server.batching import Batcher
from paraqd.server.review import scoring_queue, scoring_task
from paraqd.server.review.filters import Filter
from paraqd.server.review.pairs import get_pair, list_pairs
from paraqd.server.review.projects import delete_project, get_project
from paraqd.server.review.scoring_queue import next_slice, store_results, take_lease
from paraqd.server.review.scoring_task import ScoringTask


class Recorder:
    """Score pairs with the real scorer, and remember which ones."""

    def __init__(self, scorer, bad=""):
        self.scorer, self.bad, self.seen = scorer, bad, []

    async def score_later(self, pairs):
        self.seen += pairs
        await asyncio.sleep(0)
        if self.bad and any(self.bad in question for question, _ in pairs):
            raise ValueError("the model stumbled")
        return self.scorer.score_pairs(pairs)


async def until_scored(database, *projects, state="ready"):
    for _ in range(500):
        if all(get_project(database, each)["state"] == state for each in projects):
            return
        await asyncio.sleep(0.02)
    raise AssertionError("the projects were not scored")


def run(database, scorers, *projects, failing=()):
    async def work():
        tasks = [ScoringTask(database, scorer) for scorer in scorers]
        for task in tasks:
            task.start()
        await until_scored(database, *projects)
        await until_scored(database, *failing, state="failed")
        for task in tasks:
            await task.stop()

    asyncio.run(work())


def test_projects_are_scored_in_the_background(database, make, scorer):
    first, second = make(100, score=False), make(5, score=False)
    recorder = Recorder(scorer)
    run(database, [recorder], first, second)
    found = get_project(database, first)
    assert found["scored"] == 100 and found["signature"] == scorer.signature
    assert len(recorder.seen) == 105
    pair = get_pair(database, first, 2)
    verdict = scorer.score(pair["question"], pair["paraphrase"])
    assert pair["score"] == verdict.score and pair["evidence"] == as_json(verdict)


def as_json(verdict):
    pieces = [piece.to_dict() for piece in verdict.evidence]
    for piece in pieces:
        for side in ("question_spans", "paraphrase_spans"):
            piece[side] = [list(span) for span in piece[side]]
    return pieces


def test_a_pair_that_fails_gets_an_error_and_the_others_a_score(database, make, scorer):
    project = make(10, score=False)
    run(database, [Recorder(scorer, bad="has 13 pens")], project)
    assert get_project(database, project)["counts"] == {"valid": 5, "invalid": 4, "review": 0, "error": 1}
    assert get_pair(database, project, 4)["error"] == "the model stumbled"


@pytest.mark.usefixtures("faulty_rule")
def test_a_fault_in_one_comparison_is_the_error_of_its_pair(database, make, scorer):
    pairs = [
        {"question": f"Mia has {text} pens. How many?", "paraphrase": f"Mia owns {text} pens. How many?"}
        for text in ("9", "9 faulty", "8")
    ]
    project = make(pairs, score=False)

    class InThisLoop:
        """The scorer of the server."""

        async def score_later(self, pairs):
            return await Batcher(scorer).score_later(pairs)

    run(database, [InThisLoop()], project)
    assert get_project(database, project)["counts"] == {"valid": 2, "invalid": 0, "review": 0, "error": 1}
    assert "ZeroDivisionError" in get_pair(database, project, 2)["error"]


class Forgetful(Recorder):
    """Lose a verdict of every slice with a certain text."""

    async def score_later(self, pairs):
        lost = any("has 99 pens" in question for question, _ in pairs)
        return self.scorer.score_pairs(pairs)[1 if lost else 0 :]


def test_a_project_that_always_fails_does_not_stop_the_others(database, make, scorer, monkeypatch):
    monkeypatch.setattr(scoring_task, "_LOOK_SECONDS", 0.01)
    bad = make([{"question": "Mia has 99 pens. How many?", "paraphrase": "Mia owns 99 pens. How many?"}], score=False)
    run(database, [Forgetful(scorer)], make(5, score=False), failing=[bad])
    found = get_project(database, bad)
    assert "Scoring failed (ValueError)" in found["error"]


def test_two_processes_do_not_score_the_same_pairs(database, make, scorer):
    one, two = Recorder(scorer), Recorder(scorer)
    project = make(150, score=False)
    run(database, [one, two], project)
    assert len(one.seen) + len(two.seen) == 150


def test_scoring_goes_on_after_a_process_was_killed(database, make, scorer, monkeypatch):
    project = make(20, score=False)
    assert take_lease(database, project, "killed")
    chosen = next_slice(database, project, 8)
    verdicts = scorer.score_pairs([(question, paraphrase) for _, question, paraphrase in chosen])
    assert store_results(database, project, "killed", {n: v for (n, _, _), v in zip(chosen, verdicts, strict=True)})
    assert get_project(database, project)["scored"] == 8
    assert not take_lease(database, project, "next")
    later = scoring_queue.now() + scoring_queue.LEASE_SECONDS + 1
    monkeypatch.setattr(scoring_queue, "now", lambda: later)
    recorder = Recorder(scorer)
    run(database, [recorder], project)
    assert len(recorder.seen) == 12
    # the killed process wakes up: its verdicts come too late
    assert not store_results(database, project, "killed", {})


def test_a_deleted_project_ends_its_scoring(database, make, scorer):
    project, other = make(5, score=False), make(5, score=False)
    assert take_lease(database, project, "test")
    chosen = next_slice(database, project, 5)
    delete_project(database, project)
    verdicts = scorer.score_pairs([(question, paraphrase) for _, question, paraphrase in chosen])
    assert not store_results(database, project, "test", dict(enumerate(verdicts, start=1)))
    run(database, [Recorder(scorer)], other)


def test_another_model_scores_everything_again(database, make, scorer):
    project = make(4, score=False)
    assert take_lease(database, project, "test")
    verdicts = scorer.score_pairs([each[1:] for each in next_slice(database, project, 4)])
    other = [type(v)(v.score, v.valid, (), "paraqd:1|model:other@0|mode:fused|threshold:0.5") for v in verdicts]
    store_results(database, project, "test", {1: other[0], 2: other[1]})
    store_results(database, project, "test", {3: verdicts[2]})
    assert [pair["score"] is None for pair in list_pairs(database, project, Filter())["pairs"]] == [
        True,
        True,
        False,
        True,
    ]
    same = verdicts[3].signature.replace("threshold:0.5", "threshold:0.7")
    store_results(database, project, "test", {4: type(verdicts[3])(verdicts[3].score, False, (), same)})
    assert get_project(database, project)["scored"] == 2


@pytest.mark.parametrize("error", ["x" * 1000, "naïve"])
def test_long_errors_are_cut(database, make, error):
    project = make(1, score=False)
    take_lease(database, project, "test")
    store_results(database, project, "test", {1: error})
    assert get_pair(database, project, 1)["error"] == error[:300]
