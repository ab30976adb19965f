"""Texts from web pages are judged as a reader sees them, and evidence has spans in the original texts."""

from __future__ import annotations

import pytest

from paraqd import Scorer
from paraqd.scoring.markup import remove_markup


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("Tom & Ann walk 5 km.", "Tom and Ann walk 5 km."),
        ("KLMN", "KLMN"),
        ("It costs Rs. 1, 50,000, or 2, 30,500 now.", "It costs Rs. 1,50,000, or 2, 30,500 now."),
        ("Rows 1, 45, 90.", "Rows 1, 45, 90."),
        ("no references & none; R&D", "no references and none; R&D"),
        ("a &lt; b", "a < b"),
        ("3 < 5 and 7 > 2", "3 < 5 and 7 > 2"),
        ("x<sup>2</sup> = 9", "x² = 9"),
        ("It&#39;s 5&nbsp;kg", "It's 5 kg"),
        ("$5\u00a0to\u00a0$7", "$5 to $7"),
        ("$5 to\n$7, or $5\tto\t$7", "$5 to\n$7, or $5\tto\t$7"),
        ("how\u2009many\u3000pens in 12\u00a0500 or 12\u202f500", "how many pens in 12\u00a0500 or 12\u202f500"),
        ("１２ ٣٤ ५६ 𝟕𝟖 pens", "12 34 56 78 pens"),
        ("５％ of ＄３．５０", "5% of $3.50"),
        ("&#65301; pens and x²", "5 pens and x²"),
        ("AT&T; sells", "AT&T; sells"),
        ("x <b + 3 and y> 2", "x <b + 3 and y> 2"),
        (r"5\text{ cm} and \frac{\sqrt{2}}{2}", "5 cm and (√2)/2"),
        ("<p class='x'>Tom</p>", " Tom "),
    ],
)
def test_what_a_reader_sees(text, seen):
    assert remove_markup(text).text == seen


def test_references_do_not_change_the_verdict():
    scorer = Scorer.load()
    question = "A rug's area is 48 m² and its length is 8 m. Find its width."
    written = "A rug&#39;s area is 48&nbsp;m&sup2; and its length is 8&nbsp;m. Find its width."
    assert scorer.score(question, written).score == 1


def test_evidence_is_placed_in_the_text_as_it_came():
    scorer = Scorer.load()
    question = "Ann&#39;s rope is 48&nbsp;m long. How long are 3 ropes?"
    paraphrase = "<b>Ann&#39;s</b> rope is 52&nbsp;m long. How long are 3 ropes?"
    verdict = scorer.score(question, paraphrase)
    piece = next(each for each in verdict.evidence if each.kind == "number_changed")
    assert [question[a:b] for a, b in piece.question_spans] == ["48&nbsp;m"]
    assert [paraphrase[a:b] for a, b in piece.paraphrase_spans] == ["52&nbsp;m"]


@pytest.mark.parametrize(
    ("question", "paraphrase"),
    [
        ('"I have 3 times as many," said Moana.', "“I have 3 times as many,” said Moana."),
        ("Work out 2/5 of 150 plus 10% of 90.", "Work out 40% of 150 plus 1/10 of 90."),
        (
            "It boils 1 litre in 3 minutes. How many minutes for 5 litres?",
            "It boils 1 liter in 3 min. How many min for 5 l?",
        ),
        (r"Simplify $\sqrt{50} + 3$.", "Simplify √50 + 3."),
    ],
)
def test_the_same_but_for_the_way_it_is_written(question, paraphrase):
    verdict = Scorer.load().score(question, paraphrase)
    assert verdict.score == 1
    assert not verdict.evidence


def test_another_number_is_not_the_same():
    verdict = Scorer.load().score("Work out 2/5 of 150 plus 10% of 90.", "Work out 40% of 150 plus 1/10 of 80.")
    assert not verdict.valid


@pytest.mark.parametrize(
    ("question", "paraphrase"),
    [
        ("20% of the 50 pupils are ill. How many?", "5 teachers and 1 of the 50 pupils are ill. How many?"),
        ("90% of us run. How many of 50?", "Ten out of nine of us run. How many of 50?"),
        ("Find the value of X if X = 2x and x = 4.", "Find the value of x if x = 2X and X = 4."),
        ("Given that x <b + 3 and y> 2, find x + y.", "Given that x <b + 30 and y> 2, find x + y."),
    ],
)
def test_what_differs_is_not_held_for_the_same(question, paraphrase):
    assert Scorer.load().score(question, paraphrase).score < 1


def test_marks_that_look_like_a_formula_take_no_time():
    assert remove_markup("It costs $" + r"\n" * 60 + " in all").text


def test_a_formula_at_fault_has_a_span():
    question = r"Solve $\frac{x+13}{4} = 9$ for x."
    verdict = Scorer.load().score(question, "Solve (x+15)/4 = 9 for x.")
    assert all(a < b for piece in verdict.evidence for a, b in (*piece.question_spans, *piece.paraphrase_spans))


@pytest.mark.parametrize("zero", "０٠०𝟎")
def test_digits_of_other_scripts_do_not_change_the_verdict(zero):
    """Judges know only ASCII digits, so they took such numbers for changed ones."""

    def rewritten(text):
        return "".join(chr(ord(zero) + int(sign)) if sign.isdecimal() else sign for sign in text)

    scorer = Scorer.load(judge="small")
    pairs = [
        ("Pens cost $1.25 each. How much do 16 pens cost?", "How much do you pay for 16 pens at $1.25 each?"),
        ("Pens cost $1.25 each. How much do 16 pens cost?", "How much do you pay for 18 pens at $1.25 each?"),
        ("A train runs 40 km in 30 minutes. How fast is it?", "In half an hour, a train runs 40 km. How fast is it?"),
    ]
    expected = [(verdict.score, verdict.evidence) for verdict in scorer.score_pairs(pairs)]
    for paraphrase_only in (True, False):
        changed = [(text if paraphrase_only else rewritten(text), rewritten(other)) for text, other in pairs]
        found = scorer.score_pairs(changed)
        assert [verdict.score for verdict in found] == pytest.approx([score for score, _ in expected], abs=1e-3)
        assert [[piece.paraphrase_spans for piece in verdict.evidence] for verdict in found] == [
            [piece.paraphrase_spans for piece in evidence] for _, evidence in expected
        ]


def test_texts_that_differ_only_in_the_form_of_characters_are_the_same():
    question = "Pens cost $5. How many pens are 10% of 120?"
    wide = "".join(chr(ord(sign) + 0xFEE0) if "!" <= sign <= "~" else sign for sign in question)
    assert Scorer.load(judge="small").score(question, wide).score == 1


@pytest.mark.parametrize("space", "\u00a0\u2009\u202f\u3000\t")
def test_special_spaces_do_not_make_formulas_of_prices(space):
    scorer = Scorer.load(judge="small")
    question = "Tickets cost from $5 to $7. Ann pays the highest price for 3 tickets. How much does she pay?"
    paraphrase = "Ann buys 3 tickets at the highest price. The prices range from $5 to $7. How much does she pay?"
    expected = scorer.score(question, paraphrase)
    found = scorer.score(question, paraphrase.replace("$5 to $7", f"$5{space}to{space}$7"))
    assert found.valid == expected.valid is True and found.score == pytest.approx(expected.score, abs=0.01)
