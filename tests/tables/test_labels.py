"""A label is read alike wherever it stands."""

import pytest

from paraqd.tables.labels import binary_label


def test_labels_as_spreadsheets_write_them():
    given = ("1", "0", " 1.0", 0.0, True, "FALSE", "", None)
    assert [binary_label(value) for value in given] == [1, 0, 1, 0, 1, 0, None, None]


@pytest.mark.parametrize("value", ["2", "yes", "nan", "inf", -1, 0.5, [1], float("nan")])
def test_anything_else_is_refused(value):
    with pytest.raises(ValueError, match="is not a label"):
        binary_label(value)
