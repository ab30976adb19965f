"""The lists of names and words are described where they are shipped."""

from __future__ import annotations

import re
from pathlib import Path

from paraqd.reading import name_lists

DATA = Path(name_lists.__file__).parent / "data"
LISTS = {
    "people.tsv": name_lists.people,
    "places.tsv": name_lists.places,
    "organisations.txt": name_lists.organisations,
    "not_names.txt": name_lists.not_names,
    "capitalised.txt": name_lists.capitalised_words,
}


def test_every_list_is_described_with_its_number_of_entries():
    text = (DATA / "README.md").read_text("utf-8")
    described = dict(re.findall(r"^\| `(\S+)` \| ([\d,]+) \|", text, re.MULTILINE))
    assert described == {name: f"{len(read()):,}" for name, read in LISTS.items()}
    assert sorted(described) == sorted(path.name for path in DATA.iterdir() if path.suffix != ".md")
    assert f"{len(name_lists.common_names())} very common ones" in text
