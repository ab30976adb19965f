"""A paraphrase that a reviewer adds is a pair like any other: it is scored, decided, logged and exported."""

import json
import time

import pytest

from paraqd.server.errors import TooLarge
from paraqd.server.review import decisions, exports, pairs, projects, scoring_queue
from paraqd.server.review.added_pairs import add_paraphrase
from paraqd.server.review.errors import NotFound
from paraqd.server.review.projects import NewPair, NewProject, SourceRow

TEXT = "Mia had 10 pens. She then bought three more. How many pens does she have now?"


def exported(database, project, tmp_path):
    path = tmp_path / "export.jsonl"
    exports.export_project(database, project, path)
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_an_added_paraphrase_is_accepted_logged_and_scored(database, make):
    project = make(3)
    answer = add_paraphrase(database, project, "Ben", 1, TEXT)
    added = answer["pair"]
    assert (answer["new"], answer["undo"], added["n"], added["paraphrase"]) == (True, 1, 4, TEXT)
    assert added["question"] == pairs.get_pair(database, project, 1)["question"]
    assert (added["id"], added["status"], added["my_vote"], added["score"]) == ("P-10", "accepted", "accept", None)
    found = projects.get_project(database, project)
    assert (found["total"], found["rows"], found["state"]) == (4, 4, "scoring")
    assert scoring_queue.next_slice(database, project, 9) == [(4, added["question"], TEXT)]
    [event] = decisions.read_log(database, project)["events"]
    assert (event["pair"], event["reviewer"], event["decision"]) == (4, "Ben", "accept")


def test_adding_it_again_changes_nothing(database, make):
    project = make(2)
    add_paraphrase(database, project, "Ben", 1, TEXT)
    again = add_paraphrase(database, project, "Ben", 1, f" {TEXT}\n")
    assert (again["new"], again["pair"]["n"], again["undo"]) == (False, 3, 1)
    assert projects.get_project(database, project)["total"] == 3


def test_undo_takes_back_the_decision(database, make):
    project = make(2)
    add_paraphrase(database, project, "Ben", 1, TEXT)
    assert decisions.undo(database, project, "Ben")["changed"] == [3]
    assert pairs.get_pair(database, project, 3)["status"] == "open"


def test_the_export_has_a_row_with_the_question_and_the_id(database, tmp_path):
    row = {"Nr": 7, "Text": "How many pens?", "V1": "What number of pens?", "V2": "Pens?", "Mark": "poor"}
    given = tuple(NewPair(row["Text"], row[column], "7", column) for column in ("V1", "V2"))
    new = NewProject("Wide", 0.5, columns=tuple(row), paraphrase_columns=("V1", "V2"))
    project = projects.create_project(database, new, [SourceRow(2, row, given)])
    add_paraphrase(database, project, "Ben", 2, "How many pens are there?")
    *_, last = rows = exported(database, project, tmp_path)
    assert len(rows) == 3
    assert {name: last[name] for name in row} == {
        "Nr": 7,
        "Text": "How many pens?",
        "V1": None,
        "V2": "How many pens are there?",
        "Mark": None,  # it described the other paraphrase
    }
    assert (last["paraphrase_column"], last["decision by Ben"], last["status"]) == ("V2", "accept", "accepted")
    assert pairs.get_pair(database, project, 3)["row"] == 3


def test_a_pair_that_comes_at_the_end_of_scoring_is_scored(database, make):
    project = make(2, score=False)
    assert scoring_queue.take_lease(database, project, "test")
    scored = scoring_queue.next_slice(database, project, 9)
    scoring_queue.store_results(database, project, "test", {n: "not scored" for n, _, _ in scored})
    add_paraphrase(database, project, "Ben", 1, TEXT)
    scoring_queue.finish_project(database, project, "test")
    assert projects.get_project(database, project)["state"] == "scoring"


def test_what_cannot_be_added(database, make):
    project = make(2)
    with pytest.raises(NotFound, match="no pair with this number"):
        add_paraphrase(database, project, "Ben", 9, TEXT)
    with pytest.raises(NotFound):
        add_paraphrase(database, "abc", "Ben", 1, TEXT)
    with pytest.raises(TooLarge, match="2 pairs"):
        add_paraphrase(database, project, "Ben", 1, TEXT, most=2)
    assert projects.get_project(database, project)["total"] == 2


def test_the_server_scores_an_added_paraphrase(client):
    given = [{"question": "Mia has 10 pens and buys 3. How many?", "paraphrase": "Mia owns 10 pens and gets 3. Total?"}]
    made = client.post("/v1/projects", json={"name": "Pens", "pairs": given}).json()
    path = f"/v1/projects/{made['id']}/pairs"
    for wrong, status in ((" ", 422), ("a" * 20_001, 422)):
        assert client.post(path, json={"pair": 1, "paraphrase": wrong}).status_code == status
    assert client.post(path, json={"pair": 5, "paraphrase": "a"}).status_code == 404
    answer = client.post(path, json={"pair": 1, "paraphrase": given[0]["question"].replace("has", "owns")})
    assert answer.status_code == 200, answer.text
    for _ in range(500):
        found = client.get(f"{path}/2").json()
        if found["score"] is not None:
            break
        time.sleep(0.02)
    assert found["valid"] and found["status"] == "accepted"
