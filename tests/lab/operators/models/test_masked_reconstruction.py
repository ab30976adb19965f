"""Mask tokens and fill them in (SSMBA), with a tiny masked model and one with fixed answers."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from paraqd.lab.generators import GREEDY, GeneratorUnavailableError
from paraqd.lab.operators import MissingResourceError, Resources, derive_rng, get
from paraqd.lab.operators.models.masked_reconstruction import MaskedReconstruction
from paraqd.lab.operators.models.paper import load_paper_generator
from paraqd.reading import read

APPLES = "Tom has 5 apples. How many apples does Tom have?"
TRAIN = "A train covers 120 km in 2 hours. What is its speed?"


@dataclass
class Scripted:
    """A model with fixed answers, returned one after the other for each text."""

    answers: dict[str, list[str]]
    name: str = "scripted"
    stand_in: bool = True
    by_sentence: bool = False
    asked: int = 0

    def generate(self, texts, *, seed, decoding=GREEDY):
        assert decoding.do_sample
        self.asked += len(texts)
        return [[self.answers[text].pop(0)] if self.answers[text] else [] for text in texts]


def run(texts, generator, operator=None, seed=3407):
    operator = operator or MaskedReconstruction()
    resources = Resources(lazy={"generator.ssmba": lambda: generator})
    rngs = [derive_rng(seed, text, operator.name) for text in texts]
    return operator.apply_batch([read(text) for text in texts], rngs, resources), resources


def test_a_changed_number_is_kept():
    """SSMBA does not know word problems; its label is its own claim."""
    other = APPLES.replace("5", "7")
    assert run([APPLES], Scripted({APPLES: [other]}))[0] == [other]


def test_an_unchanged_output_is_tried_again():
    generator = Scripted({APPLES: [APPLES, APPLES, "Tom had 5 apples. How many apples does Tom have?"], TRAIN: ["x"]})
    outputs, resources = run([APPLES, TRAIN], generator)
    assert outputs == ["Tom had 5 apples. How many apples does Tom have?", "x"]
    assert generator.asked == 4
    assert not resources.drops


def test_the_number_of_attempts_is_limited():
    generator = Scripted({APPLES: [APPLES] * 9})
    outputs, resources = run([APPLES], generator, MaskedReconstruction(tries=3))
    assert (outputs, generator.asked) == ([None], 3)
    assert resources.drops == {("MaskedReconstruction", "unchanged"): 1}


def test_a_text_that_the_model_refuses_is_dropped():
    generator = Scripted({APPLES: []})
    outputs, resources = run([APPLES, " "], generator)
    assert (outputs, generator.asked) == ([None, None], 1)
    assert resources.drops == {("MaskedReconstruction", "no output"): 1}


def test_it_names_its_model_and_what_it_needs():
    operator = get("MaskedReconstruction#2")
    assert (operator.polarity, operator.paper_id, operator.needs) == ("valid", None, ("generator.ssmba",))
    assert operator.source_model(Resources(lazy={"generator.ssmba": lambda: Scripted({})})) == "scripted"
    with pytest.raises(MissingResourceError, match=r"MaskedReconstruction#2 needs the resource 'generator\.ssmba'"):
        operator.apply(read(APPLES), derive_rng(0, "q", "x"), Resources())


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder like the one that ``paraqd lab generator train ssmba --scale smoke`` makes."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from paraqd.lab.generators import train_generator

    folder = tmp_path_factory.mktemp("models") / "ssmba"
    pairs = [("", text) for text in (APPLES, TRAIN) for _ in range(6)]
    return train_generator("ssmba", None, folder, scale="smoke", seed=1, device="cpu", pairs=pairs)


def test_with_a_trained_stand_in(trained):
    generator = load_paper_generator("ssmba", trained, device="cpu")
    assert generator.stand_in
    outputs, _ = run([APPLES, TRAIN, ""], generator)
    assert outputs[2] is None
    assert outputs[0] not in (None, APPLES)
    assert outputs[1] not in (None, TRAIN)
    alone = [run([text], generator)[0][0] for text in (APPLES, TRAIN)]
    assert alone == outputs[:2], "the same whatever the batch"
    again = {run([TRAIN], generator, get(f"MaskedReconstruction#{i}"))[0][0] for i in range(2, 5)}
    assert len(again - {outputs[1], None}) > 1, "another name draws anew"


def test_a_model_of_another_kind_is_refused(tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from paraqd.lab.generators import train_generator

    folder = train_generator("f9", None, tmp_path / "f9", scale="smoke", seed=1, device="cpu", pairs=[("a b", "b a")])
    with pytest.raises(GeneratorUnavailableError, match="was trained for f9, not for MaskedReconstruction"):
        load_paper_generator("ssmba", folder, device="cpu")
    (folder / "paraqd_generator.json").unlink()
    with pytest.raises(GeneratorUnavailableError, match="MaskedReconstruction needs a masked language model"):
        load_paper_generator("ssmba", folder, device="cpu")


def test_the_default_model_is_named_if_it_is_not_available(tmp_path, monkeypatch):
    pytest.importorskip("transformers")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    with pytest.raises(GeneratorUnavailableError, match=r"MaskedReconstruction needs bert-base-cased.*ssmba=DIR"):
        load_paper_generator("ssmba")
