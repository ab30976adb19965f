"""Test the derivation of the word tables from WordNet and SCOWL."""

import gzip
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import word_tables

# three synsets: entity; an edible fruit, which has no single word; and an apple
NOUNS = """  1 This is the licence.
00000001 03 n 01 entity 0 001 ~ 00000002 n 0000 | all that is
00000002 13 n 01 edible_fruit 0 001 @ 00000001 n 0000 | a fruit
00000003 13 n 02 apple 0 pippin 0 001 @ 00000002 n 0000 | a round fruit
00000004 20 n 01 apple 1 001 @ 00000001 n 0000 | a tree
"""
INDEX = """  1 This is the licence.
entity n 1 1 ~ 1 1 00000001
apple n 2 1 @ 2 1 00000003 00000004
pippin n 1 1 @ 1 0 00000003
"""


def wordnet(folder):
    for name in word_tables.PARTS:
        (folder / f"data.{name}").write_text(NOUNS if name == "noun" else "  1 This is the licence.\n")
        (folder / f"index.{name}").write_text(INDEX if name == "noun" else "  1 This is the licence.\n")
    (folder / "cntlist.rev").write_text("apple%1:13:00:: 1 5\nentity%1:03:00:: 1 11\n")
    return folder


def test_synsets_without_a_kept_word_are_bridged(tmp_path):
    lines = word_tables.table(wordnet(tmp_path), frozenset({"entity", "apple"}))
    assert lines == ["n03\t\tentity/1/11", "n13\t0\tapple/1/5", "n20\t0\tapple/2/0"]


def test_a_word_belongs_to_its_first_level(tmp_path):
    for level in word_tables.LEVELS:
        for name in word_tables.LISTS:
            text = {("english", 10): "box\nBox\nbox's", ("english", 20): "box\ncrate", ("british", 20): "colour"}
            (tmp_path / f"{name}-words.{level}").write_text(text.get((name, level), ""))
    found = word_tables.levels(tmp_path)
    assert found[10] == ["box"] and found[20] == ["colour", "crate"]


def test_the_bytes_do_not_depend_on_the_time(tmp_path):
    word_tables.write(tmp_path / "a.gz", ["one", "two"])
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"one\ntwo\n"
    assert (tmp_path / "a.gz").read_bytes()[4:8] == b"\0\0\0\0"
