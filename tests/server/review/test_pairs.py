import pytest

from paraqd.server.review import pairs as pairs_module
from paraqd.server.review.decisions import decide_all
from paraqd.server.review.filters import Filter
from paraqd.server.review.pairs import get_pair, list_pairs, next_pair


def numbers(database, project, reviewer="Ann", **conditions):
    return [pair["n"] for pair in list_pairs(database, project, Filter(**conditions), reviewer, limit=1000)["pairs"]]


def test_pairs_are_listed_in_pages(database, make):
    project = make(7)
    answer = list_pairs(database, project, Filter(), offset=5, limit=5)
    assert (answer["total"], answer["offset"], [pair["n"] for pair in answer["pairs"]]) == (7, 5, [6, 7])


def test_a_pair_has_all_that_the_page_shows(database, make):
    pair = get_pair(database, make(), 2, "Ann")
    assert pair["id"] == "P-11" and pair["row"] == 2 and pair["copies"] == 1
    assert pair["decision"] == "invalid" and pair["valid"] is False and pair["score"] < 0.5
    assert pair["evidence"][0]["kind"] == "number_changed"
    assert (pair["status"], pair["votes"], pair["claimed_by"], pair["note"]) == ("open", [], None, "")


def test_verdicts_faults_and_scores_filter(database, make):
    project = make(6, band=(0.6, 1.0))
    assert numbers(database, project, decision=("review",)) == [1, 3, 5]
    assert numbers(database, project, decision=("invalid",)) == [2, 4, 6]
    assert numbers(database, project, decision=("valid", "invalid")) == [2, 4, 6]
    assert numbers(database, project, fault=("number_changed",)) == [2, 4, 6]
    assert numbers(database, project, fault=("unit_changed",)) == []
    assert numbers(database, project, low=0.5) == [1, 3, 5]
    assert numbers(database, project, high=0.5) == [2, 4, 6]
    assert numbers(database, project, low=0.2, high=0.3) == []


def test_statuses_filter(database, make, vote):
    project = make(6)
    vote(project, "Ann", 1, "accept")
    vote(project, "Ben", 2, "reject")
    assert numbers(database, project, status=("open",)) == [3, 4, 5, 6]
    assert numbers(database, project, status=("accepted", "rejected")) == [1, 2]
    assert numbers(database, project, status=("mine",)) == [1]
    assert numbers(database, project, status=("mine", "open"), reviewer="Ben") == [2, 3, 4, 5, 6]


def test_scores_sort_and_pairs_without_score_come_last(database, make):
    project = make([{"question": "", "paraphrase": "How many?"}, *make_apart()])
    scores = [pair["score"] for pair in list_pairs(database, project, Filter(sort="score"))["pairs"]]
    assert scores[:-1] == sorted(scores[:-1]) and scores[-1] is None
    scores = [pair["score"] for pair in list_pairs(database, project, Filter(sort="-score"))["pairs"]]
    assert scores[:-1] == sorted(scores[:-1], reverse=True) and scores[-1] is None


def make_apart():
    question = "A train runs 60 km in 2 hours. How fast is it?"
    return [{"question": question, "paraphrase": text} for text in (question, "It runs 70 km. How fast?", "No idea.")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ÉCOLE", [1]),
        ("straße", [1]),
        ("STRASSE", [1]),
        ("100%", [2]),
        ("0_0", [2]),
        ("q-77", [2]),
        ("\\", [2]),
        ("100x", []),
        ("ιχθυσ", [1]),  # a final sigma is still a sigma
    ],
)
def test_search_ignores_case_and_takes_every_character_as_it_is(database, make, text, found):
    project = make(
        [
            {"question": "L'école in der Straße hat 5 Bänke. Wie viele?", "paraphrase": "ΙΧΘΥΣ?"},
            {"question": "Is 100% more than 0_0 \\ 3?", "paraphrase": "Compare.", "id": "Q-77"},
        ],
        score=False,
    )
    assert numbers(database, project, q=text) == found


def test_search_finds_the_notes_that_a_reviewer_may_see(database, make, vote):
    project = make(votes_needed=2)
    vote(project, "Ann", 3, "accept", "Schöner Satz")
    assert numbers(database, project, q="SCHÖNER") == [3]
    assert numbers(database, project, q="schöner", reviewer="Ben") == []
    vote(project, "Ben", 3, "accept")
    assert numbers(database, project, q="schöner", reviewer="Ben") == [3]


def test_next_goes_on_behind_a_pair_and_starts_again_at_the_end(database, make):
    project = make(3)
    assert next_pair(database, project, Filter(), "Ann")["pair"]["n"] == 1
    assert next_pair(database, project, Filter(), "Ann", 1)["pair"]["n"] == 2
    assert next_pair(database, project, Filter(), "Ann", 3)["pair"]["n"] == 1
    by_score = next_pair(database, project, Filter(sort="score"), "Ann")["pair"]
    assert by_score["n"] == 2
    assert next_pair(database, project, Filter(sort="score"), "Ann", 2)["pair"]["score"] > by_score["score"]


def test_next_passes_over_pairs_that_others_have_claimed_until_the_claim_ends(database, make, monkeypatch):
    project = make(2)
    claimed = next_pair(database, project, Filter(), "Ann")["pair"]
    assert claimed["claimed_by"] == "Ann"
    assert get_pair(database, project, 1, "Ben")["claimed_by"] == "Ann"
    assert next_pair(database, project, Filter(), "Ben")["pair"]["n"] == 2
    assert next_pair(database, project, Filter(), "Cy") == {"pair": None, "left": 2}
    later = pairs_module.now() + pairs_module.CLAIM_SECONDS + 1
    monkeypatch.setattr(pairs_module, "now", lambda: later)
    assert get_pair(database, project, 1, "Ben")["claimed_by"] is None
    assert next_pair(database, project, Filter(), "Cy")["pair"]["n"] == 1


def test_a_reviewer_holds_one_claim_and_a_decision_ends_it(database, make, vote):
    project = make(3)
    next_pair(database, project, Filter(), "Ann")
    next_pair(database, project, Filter(), "Ann", 1)
    assert get_pair(database, project, 1)["claimed_by"] is None
    assert vote(project, "Ann", 2)["pair"]["claimed_by"] is None


def test_next_leaves_out_what_the_reviewer_has_decided(database, make, vote):
    project = make(3, votes_needed=2)
    vote(project, "Ann", 1)
    assert next_pair(database, project, Filter(status=("open",)), "Ann")["pair"]["n"] == 2
    assert next_pair(database, project, Filter(), "Ben")["pair"]["n"] == 1
    vote(project, "Ben", 1, "reject")
    assert next_pair(database, project, Filter(status=("disputed",)), "Ann")["pair"]["n"] == 1
    decide_all(database, project, "Ann", Filter(), "accept", expected=3)
    assert next_pair(database, project, Filter(), "Ann") == {"pair": None, "left": 0}


def test_next_leaves_out_pairs_that_are_not_scored(database, make):
    assert next_pair(database, make(3, score=False), Filter(), "Ann") == {"pair": None, "left": 0}
