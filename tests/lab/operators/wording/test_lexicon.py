"""Look up words in the tables from WordNet and SCOWL."""

import pytest

from paraqd.lab.operators.wording.lexicon import UNLISTED, above, is_word, lemmas, level, senses, synset


def words_above(word):
    return {name for number in above(senses(word, "n")[0].synset) for name in synset(number).words}


def test_common_words_have_low_levels():
    assert level("the") < level("domicile") < UNLISTED == level("domicyle")


@pytest.mark.parametrize("word", ["colour", "color", "marbles", "lampoons"])
def test_inflected_and_british_words_are_listed(word):
    assert is_word(word)


def test_the_most_common_sense_comes_first():
    bought, *others = senses("buy", "v")
    assert synset(bought.synset).words == ("buy", "purchase")
    assert bought.count > max(sense.count for sense in others)


def test_hypernyms():
    assert {"fruit", "food"} <= words_above("apple")
    assert "animal" in words_above("dog") and "animal" not in words_above("apple")


def test_topics_and_parts_of_speech():
    assert synset(senses("dog", "n")[0].synset).topic == 5
    assert "lampoon" in lemmas("v") and "apple" not in lemmas("v")
    assert senses("apple", "v") == ()


def test_the_tables_are_small():
    """They ship with the package."""
    from paraqd.lab.operators.wording import lexicon

    files = list(lexicon._FILES.iterdir())
    assert {"wordnet.txt.gz", "words.txt.gz", "WORDNET-LICENSE.txt", "SCOWL-LICENSE.txt"} <= {f.name for f in files}
    assert sum(file.stat().st_size for file in files) < 1_500_000
