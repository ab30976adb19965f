"""A missing optional dependency is one line that names the extra."""

from __future__ import annotations

import pytest

from paraqd.extras import MissingExtraError, missing_extra, optional_imports, require_extra


def test_all_that_is_missing_is_named_at_once():
    with pytest.raises(MissingExtraError, match=r"^absent, gone are not installed \(needed for training\): "):
        require_extra("train", "training", "json", "absent", "gone")


def test_an_import_that_no_extra_mends_stays_as_it_is():
    with pytest.raises(ModuleNotFoundError, match="no_such_module") as caught, optional_imports("anything"):
        import no_such_module  # noqa: F401
    assert not isinstance(caught.value, MissingExtraError)
    assert missing_extra(caught.value) is None
    assert missing_extra(ValueError("spacy")) is None
