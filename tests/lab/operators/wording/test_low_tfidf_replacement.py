"""Replace uninformative words with other uninformative words (UDA)."""

from collections import Counter
from dataclasses import replace

import pytest

from paraqd.lab.operators import Resources, derive_rng
from paraqd.lab.operators.wording.low_tfidf_replacement import LowTfidfReplacement, replacement_chances
from paraqd.lab.operators.wording.vocabulary import Vocabulary
from paraqd.reading import read

TEXT = "The farmer has the goat and the hen."
# in a hundred questions
VOCABULARY = Vocabulary(
    words=("and", "farmer", "has", "red", "the"),
    frequencies={"the": 95, "and": 80, "has": 60, "farmer": 5, "red": 2},
    documents=100,
    others={"a": 90, "5": 30},
)


def apply(text, seed=0, vocabulary=VOCABULARY, **parameters):
    resources = Resources(vocabulary=vocabulary)
    rng = derive_rng(seed, "q", "LowTfidfReplacement")
    return LowTfidfReplacement(**parameters).apply(read(text), rng, resources)


def words(text):
    return [token.text for token in read(text).tokens]


def replaced(text, seeds, **parameters):
    """Count the replaced words and their replacements."""
    gone, new = Counter(), Counter()
    for seed in range(seeds):
        result = apply(text, seed, **parameters)
        if result is not None:
            pairs = [(a, b) for a, b in zip(words(text), words(result), strict=True) if a != b]
            gone.update(a for a, _ in pairs)
            new.update(b for _, b in pairs)
    return gone, new


def test_less_informative_words_are_replaced_more_often():
    text = "goat farmer has and the"
    chances = replacement_chances(text.split(), VOCABULARY, rate=0.2)
    assert chances[0] == 0
    assert chances == sorted(set(chances))
    gone, _ = replaced(text, 1000, rate=0.2)
    assert gone["the"] > 2 * gone["farmer"] > gone["goat"] == 0


def test_the_share_of_words_is_the_rate_on_average():
    text = "the farmer and the hen has a goat and the red cow"
    for rate in (0.2, 0.4):
        chances = replacement_chances(words(text), VOCABULARY, rate=rate)
        assert sum(chances) == pytest.approx(rate * len(words(text)))


def test_a_probability_ends_at_one():
    assert max(replacement_chances(["the", "and", "goat"], VOCABULARY, rate=0.9)) == 1


def test_a_frequent_word_is_more_informative():
    once, often = (
        dict(zip(text.split(), replacement_chances(text.split(), VOCABULARY, rate=0.2), strict=True))
        for text in ("farmer has red and the", "farmer has has red and")
    )
    assert often["has"] < once["has"]


def test_less_informative_words_are_drawn_more_often():
    _, new = replaced(TEXT.lower(), 3000)
    # scores: has 60 ln(100/60) = 30.6, 5: 36.1, and 17.9, farmer 15, a 9.5, red 7.8, the 4.9
    assert set(new) == {"the", "and", "has", "farmer", "red", "a"}, "the one with the highest score is never drawn"
    assert new["red"] > new["farmer"] > new["has"]


def test_numbers_are_words_like_any_other():
    """UDA does not know word problems, so its pairs are not always valid."""
    gone, _ = replaced("goat 5 the farmer", 300, rate=0.5)
    assert gone["5"]
    vocabulary = Vocabulary(words=("red",), frequencies={"red": 60}, documents=100, others={"7": 2})
    assert replaced("red goat", 50, vocabulary=vocabulary)[1] == {"7": 50}


def test_marks_and_capitals_stay():
    letters = replace(VOCABULARY, others={})
    results = [apply("Has the farmer, Red, and the goat?", seed, letters, rate=0.5) for seed in range(40)]
    assert sum(result is not None for result in results) > 30
    for result in filter(None, results):
        assert [word for word in words(result) if not word[0].isalnum()] == [",", ",", "?"]
        assert [i for i, word in enumerate(words(result)) if word[0].isupper()] == [0, 4]


@pytest.mark.parametrize("text", ["goat 5a has", "5km goat", "goat the5"])
def test_no_words_are_glued_together(text):
    for seed in range(60):
        result = apply(text, seed, rate=0.9)
        assert result is None or set(words(result)) <= {*words(text), *VOCABULARY.frequencies, *VOCABULARY.others}


def test_at_least_one_word_goes():
    gone, _ = replaced("the goat has red", 100, rate=0.0001)
    # a word drawn as its own replacement is not an output
    assert 70 < gone.total() <= 100


@pytest.mark.parametrize("text", ["", "goat", "?!", "goat goat", "goat cow"])
def test_none_if_all_words_are_equally_informative(text):
    assert apply(text) is None


def test_none_with_an_empty_vocabulary():
    assert apply(TEXT, vocabulary=Vocabulary(words=(), frequencies={}, documents=0)) is None


def test_a_vocabulary_of_equally_informative_words():
    vocabulary = Vocabulary(words=("and", "the"), frequencies={"and": 50, "the": 50}, documents=100)
    assert set(replaced("goat and cow", 50, vocabulary=vocabulary)[1]) == {"the"}


def test_a_vocabulary_counts_numbers_apart():
    vocabulary = Vocabulary.of(["5 red pens", "a red pen for 5", "Ann's a pen", "is it Ann's?"])
    assert vocabulary.words == ("pen", "red")
    assert vocabulary.others == {"5": 2, "a": 2, "ann's": 2}
    assert vocabulary.plain_idf("Red") == vocabulary.plain_idf("5") < vocabulary.plain_idf("zebra")
    assert Vocabulary.of(["the"] * 3).plain_idf("the") == 0
