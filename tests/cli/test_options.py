"""Options that several commands read alike."""

import pytest

from paraqd.cli.options import names_in
from paraqd.errors import ParaqdError
from paraqd.lab.operators.plan import AugmentError, models_in
from paraqd.tables.writers import check_outputs


def test_names_with_commas():
    assert names_in(None) is None
    assert names_in("") == []
    assert names_in(" f3 ,, NumberChange#2") == ["f3", "NumberChange#2"]


def test_models_by_operator():
    assert models_in(["f9=a=b", " fb = c"]) == {"f9": "a=b", "fb": "c"}


@pytest.mark.parametrize("given", ["f9", "=models", "f9= "])
def test_a_model_without_its_operator(given):
    with pytest.raises(AugmentError, match="write it as ID=MODEL"):
        models_in([given])


def test_an_output_that_must_not_be_written_is_an_expected_error(tmp_path):
    there = str(tmp_path / "there.csv")
    (tmp_path / "there.csv").touch()
    cases = [([there, there], [], "named twice"), ([there], [there], "also an input"), ([there], [], "already exists")]
    for outputs, inputs, message in cases:
        with pytest.raises(ParaqdError, match=message) as caught:
            check_outputs(outputs, inputs, overwrite=False)
        assert isinstance(caught.value, FileExistsError)
