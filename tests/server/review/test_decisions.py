from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from paraqd.server.errors import ServerError
from paraqd.server.review.decisions import decide, decide_all, read_log, redo, undo
from paraqd.server.review.errors import Conflict, NotFound
from paraqd.server.review.filters import Filter
from paraqd.server.review.pairs import get_pair
from paraqd.server.review.projects import change_project, get_project
from paraqd.server.review.tables import events

INVALID = Filter(decision=("invalid",))


def votes_of(database, project, n, reviewer=""):
    return {vote["reviewer"]: vote["decision"] for vote in get_pair(database, project, n, reviewer)["votes"]}


def test_a_decision_is_recorded_with_its_note(database, make, vote):
    project = make()
    answer = vote(project, "Ann", 2, "reject", "the number differs")
    assert (answer["undo"], answer["redo"]) == (1, 0)
    pair = answer["pair"]
    assert (pair["status"], pair["my_vote"], pair["note"]) == ("rejected", "reject", "the number differs")
    assert pair == get_pair(database, project, 2, "Ann")
    assert get_project(database, project)["status"] == {"open": 5, "accepted": 0, "rejected": 1, "disputed": 0}


def test_a_note_stays_until_it_is_replaced_or_the_vote_is_withdrawn(make, vote):
    project = make()
    vote(project, "Ann", 1, "accept", "fine")
    assert vote(project, "Ann", 1, "reject")["pair"]["note"] == "fine"
    assert vote(project, "Ann", 1, "reject", "")["pair"]["note"] == ""
    vote(project, "Ann", 1, "reject", "hm")
    withdrawn = vote(project, "Ann", 1, "none")["pair"]
    assert (withdrawn["note"], withdrawn["my_vote"], withdrawn["status"]) == ("", None, "open")


def test_a_note_needs_no_decision(make, vote):
    pair = vote(make(), "Ann", 1, "none", "ask the author")["pair"]
    assert (pair["note"], pair["my_vote"], pair["votes"], pair["status"]) == ("ask the author", None, [], "open")


def test_with_one_vote_the_newest_counts(database, make, vote):
    project = make()
    vote(project, "Ann", 1, "accept")
    assert vote(project, "Ben", 1, "reject")["pair"]["status"] == "rejected"
    assert vote(project, "Ann", 1, "accept")["pair"]["status"] == "accepted"
    undo(database, project, "Ann")  # her repeated vote: Ben's vote is the newest again
    assert get_pair(database, project, 1)["status"] == "rejected"


def test_with_two_votes_reviewers_decide_without_seeing_each_other(database, make, vote):
    project = make(votes_needed=2)
    assert vote(project, "Ann", 1, "accept", "good")["pair"]["status"] == "open"
    assert votes_of(database, project, 1, "Ben") == {}
    assert votes_of(database, project, 1) == {}
    seen = read_log(database, project, "Ben")["events"][0]
    assert (seen["hidden"], seen["decision"], seen["note"]) == (True, None, None)
    assert vote(project, "Ben", 1, "reject")["pair"]["status"] == "disputed"
    assert votes_of(database, project, 1, "Ben") == {"Ann": "accept", "Ben": "reject"}
    assert not read_log(database, project, "Ben")["events"][1]["hidden"]
    assert vote(project, "Cy", 1, "accept")["pair"]["status"] == "accepted"  # a majority of two
    assert vote(project, "Dee", 1, "reject")["pair"]["status"] == "disputed"


def test_another_number_of_votes_derives_the_statuses_again(database, make, vote):
    project = make()
    vote(project, "Ann", 1, "accept")
    vote(project, "Ann", 2, "accept")
    vote(project, "Ben", 2, "accept")
    assert get_project(database, project)["status"]["accepted"] == 2
    assert change_project(database, project, {"votes_needed": 2})["status"]["accepted"] == 1
    assert votes_of(database, project, 1, "Ann") == {"Ann": "accept"}


def test_undo_and_redo_walk_through_the_steps_of_one_reviewer(database, make, vote):
    project = make()
    vote(project, "Ann", 1, "accept", "first")
    vote(project, "Ben", 1, "reject")
    vote(project, "Ann", 1, "reject", "second")
    assert undo(database, project, "Ann") == {"changed": [1], "undo": 1, "redo": 1}
    pair = get_pair(database, project, 1, "Ann")
    assert (pair["my_vote"], pair["note"], pair["status"]) == ("accept", "first", "rejected")  # Ben's vote is newer
    assert undo(database, project, "Ann") == {"changed": [1], "undo": 0, "redo": 2}
    assert undo(database, project, "Ann") == {"changed": [], "undo": 0, "redo": 2}
    assert votes_of(database, project, 1) == {"Ben": "reject"}
    assert redo(database, project, "Ann") == {"changed": [1], "undo": 1, "redo": 1}
    assert get_pair(database, project, 1, "Ann")["note"] == "first"
    redo(database, project, "Ann")
    assert get_pair(database, project, 1, "Ann")["note"] == "second"
    assert redo(database, project, "Ann") == {"changed": [], "undo": 2, "redo": 0}


def test_a_new_decision_clears_what_can_be_redone(database, make, vote):
    project = make()
    vote(project, "Ann", 1)
    undo(database, project, "Ann")
    assert vote(project, "Ann", 2)["redo"] == 0
    assert redo(database, project, "Ann")["changed"] == []
    assert get_project(database, project, "Ann")["undo"] == 1
    assert get_project(database, project, "Ben")["undo"] == 0


def test_a_bulk_decision_is_one_step(database, make, vote):
    project = make(10)
    vote(project, "Ann", 2, "reject", "seen")
    answer = decide_all(database, project, "Ann", INVALID, "reject", expected=5)
    assert answer == {"changed": 4, "undo": 2, "redo": 0}
    assert get_project(database, project)["status"]["rejected"] == 5
    assert len(undo(database, project, "Ann")["changed"]) == 4
    assert get_project(database, project)["status"]["rejected"] == 1
    assert get_pair(database, project, 2, "Ann")["note"] == "seen"
    assert len(redo(database, project, "Ann")["changed"]) == 4
    withdrawn = decide_all(database, project, "Ann", Filter(), "none", expected=10)
    assert withdrawn["changed"] == 5
    assert get_project(database, project)["status"]["open"] == 10


def test_a_bulk_decision_that_changes_nothing_is_no_step(database, make):
    project = make()
    assert decide_all(database, project, "Ann", INVALID, "none", expected=3) == {"changed": 0, "undo": 0, "redo": 0}


def test_a_bulk_decision_on_another_number_of_pairs_is_refused(database, make):
    project = make()
    with pytest.raises(Conflict, match="now matches 3 pairs, not 2") as caught:
        decide_all(database, project, "Ann", INVALID, "reject", expected=2)
    assert caught.value.details == {"matches": 3}
    assert get_project(database, project, "Ann")["undo"] == 0


def test_a_request_that_is_sent_again_is_one_step(database, make, vote):
    project = make()
    first = decide(database, project, "Ann", 1, "accept", "good", request="a.1")
    assert decide(database, project, "Ann", 1, "accept", "good", request="a.1") == first
    assert decide(database, project, "Ben", 1, "reject", request="a.1")["undo"] == 1  # another reviewer's key
    assert decide(database, make(), "Ann", 1, "reject", request="a.1")["undo"] == 1  # another project's key
    assert decide(database, project, "Ann", 1, "accept", request="a.2")["undo"] == 2
    assert vote(project, "Ann", 1)["undo"] == vote(project, "Ann", 1)["undo"] - 1  # without keys, each is a step


def test_a_late_repeat_does_not_win_over_newer_steps(database, make, vote):
    project = make()
    decide(database, project, "Ann", 1, "accept", request="a.1")
    vote(project, "Ann", 1, "reject", "on second thought")
    late = decide(database, project, "Ann", 1, "accept", request="a.1")
    assert (late["pair"]["my_vote"], late["pair"]["note"]) == ("reject", "on second thought")
    undo(database, project, "Ann")
    undo(database, project, "Ann")
    late = decide(database, project, "Ann", 1, "accept", request="a.1")
    assert (late["pair"]["my_vote"], late["undo"], late["redo"]) == (None, 0, 2)  # it stays undone


def test_repeats_at_the_same_time_are_one_step(database, make):
    project = make(score=False)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: decide(database, project, "Ann", 1, "accept", request="a.1"), range(16)))
    assert {answer["undo"] for answer in answers} == {1}
    assert len(read_log(database, project)["events"]) == 1


def test_a_bulk_decision_that_is_sent_again_is_one_step(database, make):
    project, waiting = make(), Filter(status=("open",))
    first = decide_all(database, project, "Ann", waiting, "reject", expected=6, request="b.1")
    again = decide_all(database, project, "Ann", waiting, "reject", expected=6, request="b.1")  # now none is open
    assert first == again == {"changed": 6, "undo": 1, "redo": 0}


def test_no_event_is_ever_changed(database, make, vote):
    def read():
        with database.reading() as connection:
            return connection.execute(select(events).order_by(events.c.id)).all()

    project, log = make(), []
    for act in (
        lambda: vote(project, "Ann", 1),
        lambda: vote(project, "Ann", 1, "reject", "no"),
        lambda: decide_all(database, project, "Ben", INVALID, "reject", expected=3),
        lambda: undo(database, project, "Ben"),
        lambda: undo(database, project, "Ann"),
        lambda: redo(database, project, "Ann"),
        lambda: vote(project, "Ben", 4, "none"),
    ):
        act()
        now = read()
        assert now[: len(log)] == log and len(now) > len(log)
        log = now


def test_the_log_says_what_was_undone(database, make, vote):
    project = make()
    vote(project, "Ann", 1, "accept", "good")
    vote(project, "Ann", 2, "reject")
    undo(database, project, "Ann")
    log = read_log(database, project, limit=2)
    assert log["more"]
    assert [(e["action"], e["pair"], e["decision"], e["undone"]) for e in log["events"]] == [
        ("undo", 2, "none", False),
        ("decide", 2, "reject", True),
    ]
    rest = read_log(database, project, before=log["events"][-1]["id"])
    assert [(e["reviewer"], e["decision"], e["note"], e["undone"]) for e in rest["events"]] == [
        ("Ann", "accept", "good", False)
    ]
    assert not rest["more"]


def test_unknown_pairs_and_projects_are_refused(make, vote):
    project = make()
    with pytest.raises(NotFound, match="no pair with this number"):
        vote(project, "Ann", 99)
    with pytest.raises(ServerError, match="There is no project with this id"):
        vote("abc", "Ann", 1)
