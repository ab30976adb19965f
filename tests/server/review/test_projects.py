import pytest
from sqlalchemy import func, select

from paraqd.server.review import projects as module
from paraqd.server.review.errors import BadRequest, NotFound
from paraqd.server.review.filters import Filter
from paraqd.server.review.pairs import get_pair, list_pairs
from paraqd.server.review.projects import (
    change_project,
    delete_project,
    get_project,
    list_projects,
    remove_abandoned,
)
from paraqd.server.review.statistics import read_agreement, read_scores, read_suggestion
from paraqd.server.review.tables import metadata

SAME = {"question": "Kim has 4 cats. How many cats?", "paraphrase": "How many cats has Kim, who has 4?"}


def test_equal_pairs_are_folded_and_empty_ones_are_skipped(database, make):
    rows = [
        SAME | {"id": "a"},
        SAME | {"id": "copy-2", "paraphrase": SAME["paraphrase"] + " "},
        SAME | {"paraphrase": " "},
    ]
    project = make([*rows, SAME | {"question": "Kim has 5 cats. How many cats?"}])
    found = get_project(database, project)
    assert (found["total"], found["rows"], found["empty"], found["state"]) == (2, 3, 1, "ready")
    pair = get_pair(database, project, 1)
    assert (pair["id"], pair["copies"], pair["row"]) == ("a", 2, 1)
    assert [each["n"] for each in list_pairs(database, project, Filter(q="COPY-2"))["pairs"]] == [1]


def test_a_project_without_pairs_is_refused_and_leaves_nothing(database, make):
    with pytest.raises(BadRequest, match="every paraphrase is empty"):
        make([SAME | {"paraphrase": ""}])
    assert counts(database) == {}


def counts(database):
    with database.reading() as connection:
        found = {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in metadata.sorted_tables
        }
    return {name: count for name, count in found.items() if count}


def test_a_pair_that_cannot_be_scored_has_an_error(database, make):
    project = make([SAME, SAME | {"question": " "}, SAME | {"paraphrase": "#REF!"}])
    found = get_project(database, project)
    assert found["counts"] == {"valid": 1, "invalid": 0, "review": 0, "error": 2}
    assert found["scored"] == found["total"] == 3
    pair = get_pair(database, project, 2)
    assert (pair["decision"], pair["error"], pair["score"], pair["valid"]) == ("error", "blank question", None, None)


def test_projects_are_listed_newest_first(database, make):
    first, second = make(1), make(2)
    assert [each["id"] for each in list_projects(database)] == [second, first]


def test_a_threshold_and_a_band_decide_again_and_leave_votes_alone(database, make, vote):
    project = make(6)
    vote(project, "Ann", 1, "reject")
    score = get_pair(database, project, 1)["score"]
    assert get_project(database, project)["counts"] == {"valid": 3, "invalid": 3, "review": 0, "error": 0}
    found = change_project(database, project, {"threshold": 0.99})
    assert found["counts"] == {"valid": 0, "invalid": 6, "review": 0, "error": 0}
    found = change_project(database, project, {"low": score, "high": score, "threshold": 0.5})
    assert found["review"] == [score, score] and found["counts"]["review"] >= 1
    assert found["status"]["rejected"] == 1
    found = change_project(database, project, {"low": None, "high": None, "name": "Bänke"})
    assert (found["review"], found["name"]) == (None, "Bänke")


def test_deletion_leaves_nothing(database, make, vote):
    kept = make(2)
    before = counts(database)
    project = make(5)
    vote(project, "Ann", 1)
    delete_project(database, project)
    with pytest.raises(NotFound):
        get_project(database, project)
    with pytest.raises(NotFound):
        delete_project(database, project)
    assert counts(database) == before
    assert get_project(database, kept)["total"] == 2


def test_unfinished_uploads_are_invisible_and_removed_later(database, make, monkeypatch):
    monkeypatch.setattr(module, "_finish", lambda *_: None)
    project = make(2, score=False)
    assert list_projects(database) == []
    with pytest.raises(NotFound):
        get_project(database, project)
    remove_abandoned(database)
    assert counts(database)["projects"] == 1  # it may still be loading
    monkeypatch.setattr(module, "now", lambda: 9e9)
    remove_abandoned(database)
    assert counts(database) == {}


def test_scores_and_faults_are_counted(database, make):
    found = read_scores(database, make(6))
    assert len(found["scores"]) == 6 and found["scores"] == sorted(found["scores"])
    assert found["faults"] == {"number_changed": 3}
    assert found["decisions"]["invalid"] == found["decisions"]["valid"] == 3
    assert found["status"]["open"] == 6


def test_agreement_between_reviewers_and_with_the_model(database, make, vote):
    project = make(6)
    for n in range(1, 5):
        vote(project, "Ann", n, "reject" if n % 2 == 0 else "accept")
        vote(project, "Ben", n, "accept")
    vote(project, "Cy", 1, "none", "only a note")
    found = read_agreement(database, project)
    (between,) = found["reviewers"]
    assert (between["reviewers"], between["pairs"], between["share"], between["kappa"]) == (["Ann", "Ben"], 4, 0.5, 0)
    ann, ben = found["model"]
    assert (ann["reviewer"], ann["pairs"], ann["share"], ann["kappa"]) == ("Ann", 4, 1, 1)
    assert (ben["reviewer"], ben["share"]) == ("Ben", 0.5)


def test_a_suggestion_needs_enough_decisions(database, make, vote):
    project = make(80)
    assert read_suggestion(database, project)["suggestion"] is None
    vote(project, "Ann", 1, "accept")
    assert "too few" in read_suggestion(database, project)["why"]
    for n in range(1, 61):
        vote(project, "Ann", n, "reject" if n % 2 == 0 else "accept")
    found = read_suggestion(database, project)["suggestion"]
    assert (found["decided"], found["accepted"]) == (60, 30)
    assert -1 <= found["threshold"] <= 1 and found["right_after"] >= 0.9
