"""Find the words that an operator may replace."""

import pytest

from paraqd.lab.operators.wording.content_words import content_words, form_of, is_bare, is_compound, replacement
from paraqd.reading import read
from paraqd.rewriting.document import parse


@pytest.fixture
def find(parser):
    def found(text):
        problem = read(text)
        return content_words(problem, parse(parser, [problem])[0])

    return found


def test_numbers_units_names_and_relations_are_left_out(find):
    text = (
        "Each morning Marta buys 3 kg of fresh cherries at the station. How many more cherries does Tom buy in total?"
    )
    assert [(word.lemma, word.part) for word in find(text)] == [
        ("morning", "n"),
        ("buy", "v"),
        ("fresh", "a"),
        ("cherry", "n"),
        ("station", "n"),
        ("cherry", "n"),
        ("buy", "v"),
    ]


def test_parts_of_other_words_are_left_out(find):
    assert not any(word.lemma in ("page", "boy", "half") for word in find("A 30-page book is the boy's, half-read."))


def test_cookies_are_not_cookys(find):
    assert [word.lemma for word in find("A bakery sells muffins and cookies.") if word.part == "n"][1:] == [
        "muffin",
        "cookie",
    ]


def test_compounds_and_bare_nouns(find):
    words = {word.lemma: word.token for word in find("The bus driver goes to school in a car.")}
    assert is_compound(words["bus"]) and is_compound(words["driver"]) and not is_compound(words["car"])
    assert is_bare(words["school"]) and not is_bare(words["car"])


def test_a_replacement_has_the_form_the_capital_and_the_article(find):
    text = "Boxes are sold in an orange shop."
    box, _, _, shop = find(text)
    assert replacement(text, box, "carton") == (0, 5, "Cartons")
    assert replacement(text, box, "blorven") is None
    text = "An apple rolls."
    assert replacement(text, find(text)[0], "pear") == (0, 8, "A pear")
    assert shop.lemma == "shop"


@pytest.mark.parametrize(
    ("lemma", "tag", "form"),
    [
        ("buy", "VBD", "bought"),
        ("fridge", "NNS", "fridges"),  # the inflector does not know this noun
        ("blend", "VBN", "blended"),  # the inflector prefers "blent"
        ("posy", "NNS", "posies"),
        ("garments", "NNS", "garments"),
        ("blorven", "NNS", None),
    ],
)
def test_forms(lemma, tag, form):
    assert form_of(lemma, tag) == form
