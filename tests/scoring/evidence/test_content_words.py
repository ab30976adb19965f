"""Stems of words, and the cache for words."""

from __future__ import annotations

from paraqd.reading import read
from paraqd.scoring.evidence import content_words as words
from paraqd.scoring.evidence.content_words import Word, WordCache, content_stems, content_words


def test_a_cache_computes_once_and_does_not_grow_for_ever(monkeypatch):
    monkeypatch.setattr(words, "_MOST_WORDS", 3)
    asked = []

    def upper(word):
        asked.append(word)
        return word.upper()

    cache = WordCache(upper)
    assert [cache[word] for word in ("a", "b", "a", "c")] == ["A", "B", "A", "C"]
    assert asked == ["a", "b", "c"]
    assert cache["d"] == "D" and len(cache) == 1
    assert cache["a"] == "A" and asked == ["a", "b", "c", "d", "a"]


def test_content_words_and_their_places():
    problem = read("Ann's 3 boxes are in the box.")
    assert content_words(problem) == [Word("ann", 0, 5), Word("box", 8, 13), Word("box", 25, 28)]
    assert content_stems(problem) == (["ann", "box", "box"], [0, 8, 25])
