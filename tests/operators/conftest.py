"""Load the parser once for all tests of the operators, because it is slow to load."""

import pytest

from paraqd.reading.entities import load_spacy


@pytest.fixture(scope="session")
def parser():
    """The spaCy pipeline that operators get as the resource ``parser``."""
    pytest.importorskip("spacy")
    return load_spacy()
