"""The parser is slow to load: once for all tests of the operators."""

import pytest

from paraqd.reading.entities import load_spacy


@pytest.fixture(scope="session")
def parser():
    """The spaCy pipeline that the operators get as the resource ``parser``."""
    return load_spacy()
