"""One function prepares pairs for scoring, training and fusing."""

from __future__ import annotations

from paraqd.scoring.pair_preparation import prepare_pair
from paraqd.scoring.verdict import Evidence, EvidenceKind


def test_spans_of_the_prepared_paraphrase_lead_back_to_the_original():
    paraphrase = "<p>Half an hour&nbsp;it takes, and he has 5 pens.</p>"
    pair = prepare_pair("It takes 30 minutes and he has 5 pens.", paraphrase)
    text = pair.texts[1]
    assert text.strip().replace("\xa0", " ") == "30 minutes it takes, and he has 5 pens."
    for word in ("takes", "he", "pens"):
        start = text.index(word)
        assert paraphrase[slice(*pair.original_span(1, start, start + len(word)))] == word
    start = text.index("minutes")
    assert paraphrase[slice(*pair.original_span(1, start, start + 7))] == "Half an hour"


def test_spans_of_the_question_lead_back_too():
    question = "TOM HAS <b>5</b> PENS. HOW MANY?"
    pair = prepare_pair(question, "Tom has 5 pens. How many?")
    assert pair.texts[0].split() == ["tom", "has", "5", "pens.", "how", "many?"]
    start = pair.texts[0].index("pens")
    assert question[slice(*pair.original_span(0, start, start + 4))] == "PENS"


def test_a_place_where_words_were_put_in_has_an_empty_span_in_the_original():
    paraphrase = "She buys 3&nbsp;pens."
    pair = prepare_pair("She buys 3 more pens.", paraphrase)
    start = pair.texts[1].index("more")
    first, last = pair.original_span(1, start, start + 4)
    assert first == last == len("She buys 3")


def test_evidence_is_moved_to_the_original_texts():
    pair = prepare_pair("A &amp; B run 5 km.", "A and B run <i>6</i> km.")
    piece = Evidence(EvidenceKind.NUMBER_CHANGED, ((12, 13),), ((13, 14),), "")
    assert pair.plain_question.text[12:13] == "5" and pair.plain_paraphrase.text[13:14] == "6"
    (moved,) = pair.restore_spans([piece])
    assert moved.question_spans == ((14, 15),) and moved.paraphrase_spans == ((15, 16),)
