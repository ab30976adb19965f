"""Models are asked through the generators; a trained paraphraser also gets the style."""

from dataclasses import replace

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from paraqd.errors import ArgumentError
from paraqd.lab.generators import GeneratorUnavailableError
from paraqd.lab.generators.tiny import tiny_causal
from paraqd.lab.generators.train import train_generator
from paraqd.paraphrasing.sources.loading import load_source
from paraqd.paraphrasing.sources.model import ModelSource
from paraqd.paraphrasing.text_models.styles import STYLES, styled
from paraqd.tables.questions import Question

QUESTIONS = [Question("1", "Ann has 2 pens. How many?"), Question("2", "Tom has 3 cups. How many?")]


@pytest.fixture(scope="module")
def plain_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    model, tokenizer = tiny_causal([each.text for each in QUESTIONS])
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def styled_folder(tmp_path_factory):
    pairs = [(styled(each.text, style), each.text) for each in QUESTIONS for style in STYLES]
    folder = tmp_path_factory.mktemp("styled") / "paraphraser"
    return train_generator("paraphrase", None, folder, scale="smoke", device="cpu", pairs=pairs)


class Recorder:
    """A generator that keeps what it is asked."""

    name, stand_in, by_sentence = "recorder", False, False

    def __init__(self):
        self.asked = []

    def generate(self, texts, *, seed, decoding):
        self.asked += texts
        return [[] for _ in texts]


def test_a_trained_paraphraser_gets_the_styles_and_two_faithful_ones_if_none_is_wanted(styled_folder):
    source = ModelSource.load(styled_folder, device="cpu")
    assert source.takes_style
    assert source.name.startswith("tiny/paraphrase@")
    source.candidates(QUESTIONS, count=2, seed=1, styles=["exam"])
    with pytest.raises(ArgumentError, match="cannot write in the style 'pirate': choose among close"):
        source.candidates(QUESTIONS, count=2, seed=1, styles=["pirate"])
    asked = replace(source, generator=Recorder())
    asked.candidates(QUESTIONS[:1], count=2, seed=1, styles=["exam", "short"])
    asked.candidates(QUESTIONS[:1], count=2, seed=1)
    assert asked.generator.asked == [styled(QUESTIONS[0].text, style) for style in ("exam", "short", "close", "exam")]


def test_candidates_of_a_model_depend_only_on_the_question_and_the_seed(plain_folder):
    source = load_source(str(plain_folder), device="cpu")
    source = ModelSource(
        source.generator, source.identity, decoding={"do_sample": True, "keep_unfinished": True, "max_new_tokens": 6}
    )
    both = source.candidates(QUESTIONS, count=3, seed=1)
    assert any(found.candidates for found in both)
    assert source.candidates(QUESTIONS[1:], count=3, seed=1) == both[1:]
    assert source.candidates(QUESTIONS, count=3, seed=2) != both


def test_a_model_without_styles_refuses_them(plain_folder):
    source = ModelSource.load(plain_folder, device="cpu")
    with pytest.raises(ArgumentError, match="takes no style"):
        source.candidates(QUESTIONS, count=2, seed=1, styles=["exam"])


def test_a_model_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(GeneratorUnavailableError) as caught:
        load_source(str(tmp_path / "nothing"), device="cpu")
    assert "\n" not in str(caught.value)
    assert "which does not exist; choose the folder of a model, rules or the address of an" in str(caught.value)


def test_a_name_of_no_model_says_what_to_choose_instead(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(GeneratorUnavailableError, match="choose the folder of a model, rules or") as caught:
        load_source("no-such-model", device="cpu")
    assert "--generator" not in str(caught.value) and "--stand-ins" not in str(caught.value)


KNOWN = {"Ann has 2 pens.": ["Ann owns 2 pens.", "2 pens are Ann's."], "How many?": ["What is the number?"]}


class SentenceGenerator:
    """A generator for single sentences that knows two by heart."""

    name, stand_in, by_sentence = "sentences", False, True

    def generate(self, texts, *, seed, decoding):
        assert len(seed) == len(texts)
        return [KNOWN.get(text, [])[: decoding.num_candidates] for text in texts]


def test_a_model_for_sentences_gets_one_sentence_at_a_time():
    source = ModelSource(SentenceGenerator(), "sentences")
    first, second = source.candidates(QUESTIONS, count=2, seed=1)
    assert [each.text for each in first.candidates] == [
        "Ann owns 2 pens. What is the number?",
        "2 pens are Ann's. What is the number?",
    ]
    assert [each.text for each in second.candidates] == ["Tom has 3 cups. What is the number?"]
