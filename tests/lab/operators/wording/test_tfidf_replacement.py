"""Replace important words with random ones (fc)."""

import pytest

from paraqd.lab.operators import MissingResourceError, Resources, derive_rng
from paraqd.lab.operators.wording.tfidf_replacement import TfidfReplacement
from paraqd.lab.operators.wording.vocabulary import Vocabulary, is_word
from paraqd.reading import read

EXAMPLE = "Alex travelled 100 km from New York at a constant speed of 20 kmph. How many hours did it take him in total?"
CORPUS = (
    "Tom travelled from home to school. How many hours did it take him?",
    "A train travelled at a speed of 60 kmph from Pune. How many km did it go in total?",
    "How many pens did Ann take from the box in total?",
    "A wall is built at a constant rate. How many hours did it take?",
    "York is a town. New York is a city. How many people live in the town?",
)
VOCABULARY = Vocabulary.of(CORPUS)


def apply(text, seed=0, vocabulary=VOCABULARY, **parameters):
    resources = Resources(vocabulary=vocabulary)
    return TfidfReplacement(**parameters).apply(read(text), derive_rng(seed, "q", "TfidfReplacement"), resources)


def changed(text, result):
    """Return the replaced words with their replacements."""
    old, new = ([token.text for token in read(t).tokens] for t in (text, result))
    assert len(old) == len(new)
    return {a: b for a, b in zip(old, new, strict=True) if a != b}


def test_the_papers_example():
    for seed in range(40):
        replaced = changed(EXAMPLE, apply(EXAMPLE, seed))
        # a fifth of the 20 different words of more than one letter
        assert len(replaced) == 4
        assert all(is_word(word) for word in replaced)


def test_the_words_with_the_highest_score_go():
    vocabulary = Vocabulary(words=("red", "blue"), frequencies={"the": 90, "has": 80, "farmer": 5}, documents=100)
    assert set(changed("the farmer has the goat", apply("the farmer has the goat", 0, vocabulary))) == {"goat"}
    replaced = changed("the farmer has the goat", apply("the farmer has the goat", 0, vocabulary, rate=0.5))
    assert set(replaced) == {"goat", "farmer"}


def test_a_frequent_word_scores_higher():
    vocabulary = Vocabulary(words=("red", "blue"), frequencies={"pen": 10, "cap": 10}, documents=100)
    assert set(changed("pen cap pen", apply("pen cap pen", 0, vocabulary, rate=0.1))) == {"pen"}


def test_the_new_words_come_from_the_vocabulary():
    for seed in range(40):
        assert {word.lower() for word in changed(EXAMPLE, apply(EXAMPLE, seed)).values()} <= set(VOCABULARY.words)


def test_a_capital_stays_one():
    for seed in range(40):
        for old, new in changed(EXAMPLE, apply(EXAMPLE, seed)).items():
            assert old[0].isupper() == new[0].isupper()


def test_a_word_is_never_replaced_by_itself():
    vocabulary = Vocabulary(words=("goat", "red"), frequencies={}, documents=1)
    assert all(apply("goat", seed, vocabulary) == "red" for seed in range(20))


def test_numbers_and_marks_stay():
    for seed in range(20):
        result = apply("12 goats, 5.5 hens; 3 sheep!", seed, rate=1.0)
        assert [token.text for token in read(result).tokens if not is_word(token.text)] == [
            "12",
            ",",
            "5.5",
            ";",
            "3",
            "!",
        ]


@pytest.mark.parametrize("text", ["", "12 + 5 = ?", "x"])
def test_none_without_words(text):
    assert apply(text) is None


def test_none_with_a_vocabulary_of_one_word():
    assert apply("goat", vocabulary=Vocabulary(words=("goat",), frequencies={}, documents=1)) is None


def test_the_vocabulary_must_be_given():
    with pytest.raises(MissingResourceError, match="TfidfReplacement needs the resource 'vocabulary'"):
        TfidfReplacement().apply(read(EXAMPLE), derive_rng(0, "q", "fc"), Resources())


def test_a_vocabulary_counts_questions_not_words():
    vocabulary = Vocabulary.of(["pen pen pen", "Pen cap", "cap 5 x"])
    assert vocabulary.documents == 3
    assert vocabulary.frequencies == {"pen": 2, "cap": 2}
    assert vocabulary.words == ("cap", "pen")


def test_a_rare_word_has_a_higher_idf():
    vocabulary = Vocabulary.of(["a pen is", "a cap is", "a pen was"])
    assert vocabulary.idf("goat") > vocabulary.idf("Pen") > 0
