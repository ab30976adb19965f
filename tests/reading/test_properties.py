"""Properties of reading that hold for every text."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from paraqd.reading import Problem, equal, read, same_quantities, tokenize
from paraqd.reading.equality import signature
from paraqd.reading.sentences import split_sentences
from paraqd.reading.unit_mentions import find_unit_mentions

checked = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])

# every code point, lone surrogates included
any_text = st.text(st.characters(exclude_categories=()), max_size=80)

FRAGMENTS = (
    "0 1 2 3 5 7 10 12 24 25 60 99 100 500 1,200 1,20,000 3,4,5 0.6 .5 3.14 007 1234567 ٣ ५ "
    ", . / : ; - − – + * × = % $ ₹ £ € ¢ ° ^ ** ( ) [ ] ' ’ \" “ ” _ # & ? ! … ½ ⅓ ⅞ ² ³ ¹⁰ ₁ "
    "one two three ten twenty twenty-five hundred thousand lakh million dozen half quarter third fifth halves thirds "
    "first second twenty-first twice double triple twofold times fold point a an of and or to in per each every the "
    "couple minus negative ratio proportion odds percent cent st nd rd th "
    "km m g l s h kg cm hour hours day minutes year decade feet inches miles pounds cents rupees dollars Rs Rs. INR "
    "kmph km/h m/s sq cubic square degrees Celsius C F C2 k x y n xy A B am pm a.m. p.m. p.a. annum o'clock noon past "
    "costs paid weighs pence "
    "how many what is find which Tom Meera's Mr. Will No. e.g. U.S. \n \t"
).split(" ")
fragments = st.lists(st.sampled_from(FRAGMENTS), max_size=25)
numberish = st.tuples(fragments, st.sampled_from(["", " ", " "])).map(lambda pair: pair[1].join(pair[0]))
mixed = st.lists(st.tuples(st.sampled_from(FRAGMENTS), st.sampled_from(["", " ", "\n", "  "])), max_size=25).map(
    lambda pairs: "".join(fragment + space for fragment, space in pairs)
)
# few fragments at a time, so that they meet often
FAMILIES = [
    "ratio 2 0 : to 3 1/2 half and a",
    "1 0 / ⁄ 2 3 4 . , ½ and a half",
    "5 sq . - m 2 3 ^ ² squared per / s h a p",
    "two hundred and thousand - half dozen a third point five of an hour",
    "x ^ ** - 2 ² y m ( ) + = 3",
    "$ Rs . - 5 k m /- / per hour a dollars US",
    "10 : 30 a . m . p pm o'clock half past three to quarter noon",
    "3 , 4 and or 12 days km $ % to - by",
]
focused = st.sampled_from(FAMILIES).flatmap(
    lambda family: st.lists(
        st.tuples(st.sampled_from(family.split()), st.sampled_from(["", " "])).map("".join), max_size=14
    ).map("".join)
)
texts = st.one_of(any_text, numberish, mixed, focused)


def without_space(text: str) -> str:
    return "".join(text.split())


@checked
@given(texts)
@example("")
@example("ratio 2:0 to 3")
@example("1 " + "9" * 5000 + "/2")
@example("\ud800")
def test_reading_never_crashes(text: str):
    problem = read(text)
    assert isinstance(problem, Problem)
    assert problem.text == text


@checked
@given(texts)
def test_quantity_spans(text: str):
    quantities = read(text).quantities
    for q in quantities:
        assert 0 <= q.start < q.end <= len(text)
        assert text[q.start : q.end] == q.surface
        assert q.start <= q.number_span[0] < q.number_span[1] <= q.end
        if q.unit_span is not None:
            assert q.start <= q.unit_span[0] < q.unit_span[1] <= q.end
            assert q.unit is not None
            assert q.unit_span[1] <= q.number_span[0] or q.number_span[1] <= q.unit_span[0]
    for left, right in pairwise(quantities):
        assert left.end <= right.start


@checked
@given(texts)
def test_other_spans(text: str):
    problem = read(text)
    for entity in problem.entities:
        assert text[entity.start : entity.end] == entity.text != ""
    for left, right in pairwise(problem.entities):
        assert left.end <= right.start
    for question in problem.questions:
        assert text[question.start : question.end] == question.text != ""
        assert any(s.start <= question.start and question.end <= s.end for s in problem.sentences)
    for left, right in pairwise(problem.questions):
        assert left.end <= right.start
    mentions = find_unit_mentions(problem)
    for mention in mentions:
        assert 0 <= mention.start < mention.end <= len(text)
    for left, right in pairwise(mentions):
        assert left.end <= right.start


@pytest.mark.parametrize("pattern", ["[0-9]+", r"\d+"])
@checked
@given(text=texts)
def test_every_digit_string_lies_in_exactly_one_quantity(pattern: str, text: str):
    quantities = read(text).quantities
    for run in re.finditer(pattern, text):
        holders = [q for q in quantities if q.start <= run.start() and run.end() <= q.end]
        assert len(holders) == 1, run.group()


@checked
@given(texts)
def test_tokens_reconstruct_the_text(text: str):
    tokens = tokenize(text)
    assert "".join(token.text for token in tokens) == without_space(text)
    for token in tokens:
        assert text[token.start : token.end] == token.text != ""
    for left, right in pairwise(tokens):
        assert left.end <= right.start
        assert not text[left.end : right.start].strip()


@checked
@given(texts)
def test_sentences_cover_the_text(text: str):
    sentences = split_sentences(text)
    assert "".join(without_space(sentence.text) for sentence in sentences) == without_space(text)
    for sentence in sentences:
        assert text[sentence.start : sentence.end] == sentence.text == sentence.text.strip() != ""
    for left, right in pairwise(sentences):
        assert left.end <= right.start


@checked
@given(texts)
def test_reading_is_deterministic(text: str):
    assert read(text) == read(text)


@checked
@given(texts)
@example("A.M. 0")
def test_space_around_the_text_only_moves_it(text: str):
    text = text.strip()
    inner, outer = read(text), read(f"  {text}\n")
    assert [(q.value, q.unit, q.kind, q.surface) for q in inner.quantities] == [
        (q.value, q.unit, q.kind, q.surface) for q in outer.quantities
    ]
    assert [(q.start + 2, q.end + 2) for q in inner.quantities] == [q.span for q in outer.quantities]
    assert [s.text for s in inner.sentences] == [s.text for s in outer.sentences]


@checked
@given(numberish, numberish)
def test_equality_is_an_equivalence(one: str, other: str):
    quantities = (*read(one).quantities, *read(other).quantities)[:12]
    for a in quantities:
        assert equal(a, a)
        for b in quantities:
            assert equal(a, b) == equal(b, a) == (signature(a) == signature(b))
            if equal(a, b):
                assert hash(signature(a)) == hash(signature(b))


@checked
@given(texts)
def test_a_text_has_the_same_quantities_as_itself(text: str):
    assert same_quantities(read(text).quantities, read(text).quantities)


@checked
@given(st.integers(0, 10**12))
def test_digits_are_read_exactly(n: int):
    for written in (str(n), f"{n:,}", f"There are {n} of them.", f"There are {n:,} of them."):
        (quantity,) = read(written).quantities
        assert quantity.value == n


@checked
@given(st.integers(0, 10**6), st.integers(1, 10**4))
def test_fractions_and_decimals_are_read_exactly(top: int, bottom: int):
    (fraction,) = read(f"It is {top}/{bottom} now").quantities
    assert fraction.value * bottom == top
    (decimal,) = read(f"It is {top}.{bottom} now").quantities
    assert decimal.value // 1 == top
    assert decimal.value % 1 == Fraction(f"0.{bottom}")
