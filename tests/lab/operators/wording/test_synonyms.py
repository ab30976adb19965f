"""Replace words with synonyms."""

import pytest

from paraqd.lab.operators import Resources, derive_rng
from paraqd.lab.operators.wording.lexicon import level
from paraqd.lab.operators.wording.synonyms import Synonyms, listed
from paraqd.reading import read, same_quantities

SHOP = "Marta buys 3 bags of flour at a shop. She needs 2 bags to bake a cake. How many bags does she have left?"


def outputs(text, parser, seeds=40, **resources):
    given = Resources(parser=parser, **resources)
    made = [Synonyms().apply(read(text), derive_rng(n, "a", "Synonyms"), given) for n in range(seeds)]
    return {each for each in made if each is not None}


class Preferring:
    """A language model that finds texts with some words improbable."""

    def __init__(self, *disliked):
        self.disliked = disliked
        self.calls = 0

    def log_probabilities(self, texts):
        self.calls += 1
        return [-100.0 - 30.0 * sum(word in text for word in self.disliked) for text in texts]


def test_words_are_replaced_and_the_quantities_stay(parser):
    made = outputs(SHOP, parser)
    assert (
        "Marta purchases 3 bags of flour at a store. She needs 2 bags to bake a cake. How many bags does she have left?"
        in made
    )
    assert len(made) > 5
    for each in made:
        assert same_quantities(read(SHOP).quantities, read(each).quantities)
        assert "flour" in each and "cake" in each


def test_a_noun_is_replaced_everywhere_or_nowhere(parser):
    assert {each.count("sack") for each in outputs(SHOP, parser)} == {0, 3}


def test_the_article_fits(parser):
    assert outputs("A car stops.", parser) >= {"An automobile stops.", "A motorcar stops."}


@pytest.mark.parametrize(
    "text",
    [
        "The bus driver waits for 3 hours.",  # a compound noun
        "Ana is at home for 3 hours.",  # no determiner
        "One shop and 2 stores sell pens.",  # the text already contains the synonym
        "Ana gets on the tram and gets off.",  # no synonym fits every sense of "get"
        "Each of 3 numbers is twice the total.",
        "Rose has 3 km to go.",
    ],
)
def test_a_word_stays_if_a_synonym_could_be_wrong(text, parser):
    assert outputs(text, parser) == set()


def test_a_verb_before_another_verb(parser):
    assert outputs("Ana wants to sing 3 songs.", parser) == {
        "Ana wishes to sing 3 songs.",
        "Ana desires to sing 3 songs.",
    }
    assert outputs("Ana needs to sing 3 songs.", parser) == set()


def test_a_language_model_admits_synonyms_that_fit_one_sense(parser):
    text = "Ana gets 3 songs."
    assert outputs(text, parser) == set()
    assert outputs(text, parser, language_model=Preferring()) == {
        "Ana receives 3 songs.",
        "Ana obtains 3 songs.",
        "Ana acquires 3 songs.",
    }


def test_a_language_model_refuses_improbable_synonyms(parser):
    model = Preferring("obtains", "acquires", "tome")
    assert outputs("Ana gets 3 songs.", parser, language_model=model) == {"Ana receives 3 songs."}
    assert not any("purchase" in each for each in outputs(SHOP, parser, language_model=Preferring("purchase")))


def test_a_batch_is_scored_at_once(parser):
    model = Preferring("purchase")
    problems = [read(text) for text in (SHOP, "", "Ana gets 3 songs.", SHOP)]
    rngs = [[derive_rng(1, str(i), "Synonyms") for i in range(4)] for _ in range(2)]
    resources = Resources(parser=parser, language_model=model)
    together = Synonyms().apply_batch(problems, rngs[0], resources)
    assert model.calls == 1
    assert together == [Synonyms().apply(p, rng, resources) for p, rng in zip(problems, rngs[1], strict=True)]
    assert together[1] is None and together[0] is not None


def test_the_list_is_long_and_has_no_misspellings():
    words = {synonym.word for synonyms in listed().values() for synonym in synonyms}
    assert len(listed()) > 1000
    newer = {"donut", "passcode", "yoghurt", "catsup", "fete", "cafe", "rainforest"}  # not in the lists of words
    assert {word for word in words if level(word) > 70} <= newer
    assert all(synonym.word != lemma for (lemma, _), synonyms in listed().items() for synonym in synonyms)
