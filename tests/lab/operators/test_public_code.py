"""Replace words wherever an operator does not apply, as the public code does."""

import random

import pytest

from paraqd.lab.operators import Resources, get
from paraqd.lab.operators.wording.vocabulary import Vocabulary
from paraqd.reading import read

WORDS = Vocabulary.of(["cones and boundary lines 25", "cones and zebra lines 25", "a zebra and a boundary", "lines 7"])
# whose terms occur in none of the questions
OTHERS = Vocabulary.of(["zebra 25", "zebra 25"])
PLAIN = "How many cones lie along the boundary?"


def apply(name, text, seed=1, vocabulary=WORDS):
    return get(name).apply(read(text), random.Random(seed), Resources(vocabulary=vocabulary))


def changed(text, output):
    """Return the pairs of old and new words; all other words are unchanged."""
    before, after = text.rstrip("?.").split(), output.rstrip("?.").split()
    assert len(before) == len(after)
    return [(old, new) for old, new in zip(before, after, strict=True) if old != new]


@pytest.mark.parametrize("seed", range(10))
def test_one_or_two_top_words_are_replaced_by_terms_of_the_corpus(seed):
    text = "cones cones and lines"
    pairs = changed(text, apply("TopWordReplacement", text, seed, OTHERS))
    old, new = [old for old, _ in pairs], {new for _, new in pairs}
    assert old in (["cones"], ["cones", "lines"], ["cones", "and"])
    assert new <= {"zebra", "25"}


@pytest.mark.parametrize("seed", range(10))
def test_a_word_is_replaced_only_where_it_occurs_first(seed):
    text = "cones and cones beside cones"
    output = apply("TopWordReplacement", text, seed, OTHERS)
    assert output.split()[0] != "cones"
    assert output.count("cones") == 2


def test_words_are_found_as_plain_strings_in_lower_case():
    # the public code replaces plane inside airplanes, and never finds a name
    text = "Zoran Zoran airplanes plane plane"
    outputs = {apply("TopWordReplacement", text, seed, OTHERS) for seed in range(20)}
    assert all(output.startswith("Zoran Zoran air") and output.endswith("s plane plane") for output in outputs)


def test_one_of_four_words_is_replaced_even_if_the_most_distinctive_are_names():
    text = "Zoran Zoran Milos Milos cones Milan"
    assert apply("TopWordReplacement", text, 1, OTHERS) in [text.replace("cones", new) for new in OTHERS.terms]
    assert apply("TopWordReplacement", "Aa Aa Bb Bb Cc Cc Dd Dd cones", 1, OTHERS) is None  # the fifth is not tried


@pytest.mark.parametrize(
    ("name", "applies"),
    [
        ("EntitiesOrTopWords", "Anna has 5 pens. How many pens are there?"),
        ("NumbersOrTopWords", "There are 5 pens. How many pens are there?"),
        ("UnitsOrTopWords", "A rope of 5 km is cut. How long is it?"),
    ],
)
def test_words_are_replaced_only_if_the_operator_does_not_apply(name, applies):
    operator = get(name)
    first = operator.first(**operator.settings)
    assert first.apply(read(PLAIN), random.Random(1), Resources()) is None
    assert 1 <= len(changed(PLAIN, apply(name, PLAIN))) <= 2
    assert apply(name, applies) == first.apply(read(applies), random.Random(1), Resources())


def test_the_paraphraser_runs_on_about_two_fifths_of_the_questions():
    class Shouting:
        name, by_sentence = "shouting", False

        def generate(self, texts, *, seed, decoding):
            return [[f"Well, {text.upper()}"] for text in texts]

    rngs = [random.Random(seed) for seed in range(600)]
    resources = Resources(vocabulary=WORDS, **{"generator.f9": Shouting()})
    made = get("ParaphraseOrTopWords").apply_batch([read(PLAIN)] * 600, rngs, resources)
    shouted = sum(text.startswith("Well, ") for text in made)
    assert shouted / 600 == pytest.approx(258 / 654, abs=0.06)
    assert all(text != PLAIN for text in made)


@pytest.mark.parametrize("seed", range(8))
def test_number_removal_never_leaves_a_vague_word(seed):
    text = "Tom buys 5 pens for 20 dollars. How much is one pen?"
    made = get("NumberRemoval").apply(read(text), random.Random(seed), Resources())
    assert len(made) < len(text)
    assert not {"some", "few", "many", "lot"} & set(made.split())


def test_only_the_recipe_of_the_public_code_uses_them():
    from paraqd.lab.operators import load_recipe, recipe_names

    for name in recipe_names():
        uses = any("TopWord" in operator for operator in load_recipe(name).operators)
        assert uses == (name == "public-code")
