"""Replace a word with an unrelated one."""

import re

import pytest

from paraqd.lab.operators import Resources, derive_rng
from paraqd.lab.operators.wording.lexicon import is_word
from paraqd.lab.operators.wording.unrelated_word import _UNSUITED, UnrelatedWord, _candidates, _related, _topics
from paraqd.reading import read, same_quantities

TEXT = "A factory fills 48 jars in each crate. How many crates does the factory need for 960 jars?"


def outputs(text, parser, seeds=60):
    given = Resources(parser=parser)
    made = [UnrelatedWord().apply(read(text), derive_rng(n, "a", "UnrelatedWord"), given) for n in range(seeds)]
    return {each for each in made if each is not None}


def changed(before, after):
    return [
        (a, b)
        for a, b in zip(re.findall(r"\w+", before), re.findall(r"\w+", after), strict=True)
        if a != b and a.lower() not in ("a", "an")
    ]


def test_one_or_two_words_become_other_english_words(parser):
    made = outputs(TEXT, parser)
    assert len(made) > 30
    assert {len(changed(TEXT, each)) for each in made} == {1, 2}
    for each in made:
        assert all(is_word(new) for _, new in changed(TEXT, each))
        assert {old for old, _ in changed(TEXT, each)} <= {"factory", "fills", "jars", "crate", "crates", "need"}
        assert same_quantities(read(TEXT).quantities, read(each).quantities)


def test_the_inflection_stays(parser):
    verbs = {new for each in outputs(TEXT, parser) for old, new in changed(TEXT, each) if old == "fills"}
    assert verbs and all(verb.endswith("s") for verb in verbs)


def test_the_new_word_is_about_something_else():
    verbs = _candidates("v", _topics("fill", "v"))
    assert "lampoon" in _candidates("v", _topics("sell", "v")) and "pour" not in verbs
    nouns = _candidates("n", _topics("jar", "n"))
    assert "arrogance" in nouns and "bottle" not in nouns
    assert not _UNSUITED & {*verbs, *nouns}
    assert _related("apple", "fruit", "n") and _related("buy", "purchase", "v") and not _related("buy", "sneeze", "v")


@pytest.mark.parametrize(
    "text",
    [
        "Tom has 5 marbles and gets 3 more.",  # 5 of anything else would do as well
        "The sum of 2 numbers is 5.",
        "5 km",
    ],
)
def test_a_thing_that_could_be_any_other_stays(text, parser):
    assert all("marbles" in each for each in outputs(text, parser))


def test_nothing_to_replace(parser):
    assert outputs("The sum of 2 numbers is 5.", parser) == set()
