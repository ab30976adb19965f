"""Run the operators with a model (f1, f9, fb and fe), with tiny models that memorised a few sentences."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from hypothesis import given
from hypothesis import strategies as st

from paraqd.lab.generators import Decoding, GeneratorUnavailableError, Prompt, load_generator, train_generator
from paraqd.lab.operators import get
from paraqd.lab.operators.models.backtranslation import Backtranslation
from paraqd.lab.operators.models.corrupted_reconstruction import CorruptedReconstruction, corrupt, training_pairs
from paraqd.lab.operators.models.lossy_paraphrase import LossyParaphrase
from paraqd.lab.operators.models.paper import PAPER_MODELS, load_paper_generator
from paraqd.lab.operators.models.t5_paraphrase import T5Paraphrase
from paraqd.reading import read, same_quantities
from paraqd.rewriting.operator import MissingResourceError, Resources, derive_rng

# the models of the generators' tests; pytest does not load that conftest.py for this folder
_SPEC = importlib.util.spec_from_file_location("tiny_models", Path(__file__).parents[2] / "generators" / "conftest.py")
assert _SPEC is not None
assert _SPEC.loader is not None
_tiny = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_tiny)
build = _tiny.build
single_thread = _tiny.single_thread
fsmt_forward, fsmt_backward = _tiny.fsmt_forward, _tiny.fsmt_backward
pegasus, t5 = _tiny.pegasus, _tiny.t5

APPLES = "Tom has 5 apples. How many apples does Tom have?"
TRAIN = "A train covers 120 km in 2 hours. What is its speed?"
PENS = "A pen costs $3. Find the cost of 4 pens."
RESTORED = {
    APPLES: "Tom owns 5 apples. How many apples does Tom have?",
    TRAIN: TRAIN,
    PENS: "A pen costs $7. Find the cost of 4 pens.",
}


def run(operator, texts, resources, seed=3407):
    problems = [read(text) for text in texts]
    rngs = [derive_rng(seed, text, operator.name) for text in texts]
    return operator.apply_batch(problems, rngs, resources)


def with_generators(**generators):
    return Resources(lazy={f"generator.{key}": (lambda value=value: value) for key, value in generators.items()})


@pytest.fixture(scope="session")
def translators(fsmt_forward, fsmt_backward):
    return {
        "f1.forward": load_generator(fsmt_forward, device="cpu"),
        "f1.backward": load_generator(fsmt_backward, device="cpu"),
    }


# further candidates of such small models are noise, so decoding is greedy where words are checked
BEAM = Decoding(num_beams=4, keep_unfinished=True)
EXACT = Backtranslation(backward=Decoding())


def test_backtranslation_goes_sentence_by_sentence_and_keeps_quantities(translators):
    resources = with_generators(**translators)
    outputs = run(EXACT, [APPLES, TRAIN, PENS, "What is its speed?", "  "], resources)
    assert outputs == [
        "Tom owns 5 apples. How many apples does Tom own?",
        "A train travels 120 km in 2 hours. What is its speed?",
        None,
        None,
        None,
    ]
    assert resources.drops == {
        ("Backtranslation", "quantities differ"): 1,
        ("Backtranslation", "unchanged"): 1,
    }
    assert EXACT.source_model(resources) == "en-de de-en"


def test_backtranslation_takes_the_farthest_of_diverse_candidates(translators):
    operator = Backtranslation(backward=Decoding(num_candidates=4, diversity=3.0, keep_unfinished=True))
    back = translators["f1.backward"]
    german = translators["f1.forward"].generate(["Tom has 5 apples."], seed=0)[0]
    (candidates,) = back.generate(german, seed=0, decoding=operator.backward)
    assert len(candidates) > 1
    outputs = run(operator, [APPLES, TRAIN, PENS], with_generators(**translators))
    for text, output in zip([APPLES, TRAIN, PENS], outputs, strict=True):
        assert output is None or (output != text and same_quantities(read(text).quantities, read(output).quantities))


@pytest.mark.parametrize("name", ["LossyParaphrase", "T5Paraphrase"])
def test_lossy_paraphrases_are_never_the_question(name, pegasus, t5):
    if name == "LossyParaphrase":
        operator, key, model = LossyParaphrase(decoding=BEAM), "f9", load_generator(pegasus, device="cpu")
    else:
        prompt = Prompt("paraphrase: {text}")
        operator, key, model = T5Paraphrase(decoding=BEAM), "fe", load_generator(t5, device="cpu", prompt=prompt)
    resources = with_generators(**{key: model})
    assert run(operator, [APPLES, PENS, ""], resources) == ["How many apples does Tom have?", None, None]
    assert resources.drops == {(name, "unchanged"): 1}
    assert operator.source_model(resources) == model.name
    assert (operator.polarity, operator.needs) == ("invalid", (f"generator.{key}",))


def test_a_generator_of_sentences_is_given_sentences(pegasus):
    model = load_generator(pegasus, device="cpu", by_sentence=True)
    assert run(LossyParaphrase(decoding=BEAM), [TRAIN], with_generators(f9=model)) == [
        "A train covers 120 km. How fast is it?"
    ]


def test_a_text_longer_than_the_model_reads_is_dropped(pegasus):
    resources = with_generators(f9=load_generator(pegasus, device="cpu"))
    assert run(LossyParaphrase(), ["apples " * 200], resources) == [None]
    assert resources.drops == {("LossyParaphrase", "no output"): 1}


@pytest.fixture(scope="session")
def restorer(build):
    """A model that restores these three questions from their corruptions."""
    name = CorruptedReconstruction.name
    pairs = [(corrupt(read(text), derive_rng(3407, text, name)), good) for text, good in RESTORED.items()]
    folder = build(_tiny.build_llama, "restorer", pairs)
    return load_generator(folder, device="cpu", prompt=_tiny.PROMPT)


def test_a_reconstruction_that_is_not_valid_is_dropped(restorer):
    resources = with_generators(fb=restorer)
    outputs = run(CorruptedReconstruction(), [APPLES, TRAIN, PENS, "5 km?"], resources)
    assert outputs == ["Tom owns 5 apples. How many apples does Tom have?", None, None, None]
    assert resources.drops == {
        ("CorruptedReconstruction", "unchanged"): 1,
        ("CorruptedReconstruction", "quantities differ"): 1,
    }


def test_reconstruction_with_a_trained_model_is_deterministic(tmp_path):
    questions = [TRAIN.replace("120", str(n)) for n in range(50, 90)]
    pairs = list(training_pairs(questions, seed=1))
    assert all(same_quantities(read(bad).quantities, read(good).quantities) and bad != good for bad, good in pairs)
    folder = train_generator("fb", None, tmp_path / "fb", scale="smoke", seed=1, device="cpu", pairs=pairs)
    operator = CorruptedReconstruction(decoding=Decoding(keep_unfinished=True))
    results = []
    for _ in range(2):
        resources = with_generators(fb=load_generator(folder, device="cpu"))
        results.append((run(operator, questions[:4], resources), resources.drops))
    assert results[0] == results[1]


def test_corruption_spares_numbers_units_and_the_last_three_tokens():
    problem = read("Meera bought 2.5 kg of fine rice at Rs. 60 per kg last week, and paid. How much did she pay?")
    seen = set()
    for seed in range(200):
        corrupted = corrupt(problem, random.Random(seed), vocabulary=("tree", "house"))
        seen.add(corrupted)
        assert corrupted != problem.text
        assert corrupted.endswith("she pay?")
        assert "2.5 kg" in corrupted
        assert same_quantities(problem.quantities, read(corrupted).quantities)
    assert len(seen) > 150
    assert any("tree" in text for text in seen)


def test_corruption_moves_words_only_a_little():
    words = [f"w{chr(97 + i)}x" for i in range(20)]
    problem = read(" ".join(words))
    for seed in range(50):
        corrupted = corrupt(problem, random.Random(seed), deleted=0.0, replaced=0.0, window=3.0).split()
        assert sorted(corrupted) == sorted(words)
        assert all(abs(corrupted.index(word) - place) <= 3 for place, word in enumerate(words))


@given(st.text(max_size=80), st.integers(0, 5))
def test_corruption_takes_any_text(text, seed):
    problem = read(text)
    first = corrupt(problem, random.Random(seed))
    assert first == corrupt(problem, random.Random(seed))


def test_operators_are_deterministic_in_any_batch(translators, pegasus):
    generators = {**translators, "f9": load_generator(pegasus, device="cpu")}
    texts = [APPLES, TRAIN, PENS, "What is its speed?"]
    sampled = LossyParaphrase(decoding=Decoding(do_sample=True, temperature=20.0, keep_unfinished=True))
    for operator in (Backtranslation(), LossyParaphrase(), sampled):
        together = run(operator, texts, with_generators(**generators))
        again = [run(operator, [text], with_generators(**generators))[0] for text in texts]
        assert together == again
        assert all(output != text for output, text in zip(together, texts, strict=True))
    assert run(sampled, texts, with_generators(**generators), seed=1) != together


@pytest.mark.parametrize("name", ["f1", "f9", "fb", "fe"])
def test_a_missing_generator_is_named(name):
    operator = get(name)
    with pytest.raises(MissingResourceError, match=f"{operator.name} needs the resource 'generator.{name}"):
        operator.apply(read(APPLES), random.Random(0), Resources())


def test_every_need_has_a_paper_model():
    for name in ("f1", "f9", "fb", "fe"):
        operator = get(name)
        assert operator.paper_id == name
        for need in operator.needs:
            assert PAPER_MODELS[need.removeprefix("generator.")].operator == operator.name


def test_a_given_model_is_loaded_and_an_absent_one_is_named(pegasus, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    resources = Resources(lazy={"generator.f9": lambda: load_paper_generator("f9", pegasus, device="cpu")})
    assert run(LossyParaphrase(decoding=BEAM), [APPLES], resources) == ["How many apples does Tom have?"]
    with pytest.raises(
        GeneratorUnavailableError, match=r"^Backtranslation needs facebook/wmt19-en-de, .* --stand-ins$"
    ):
        load_paper_generator("f1.forward")
    with pytest.raises(GeneratorUnavailableError, match="paraqd lab generator train fb --base-model t5-base"):
        load_paper_generator("fb")


def test_a_trained_folder_keeps_its_own_prompt(tmp_path):
    folder = train_generator(
        "fe", None, tmp_path / "fe", scale="smoke", seed=1, device="cpu", pairs=[("a b", "b a")] * 4
    )
    generator = load_paper_generator("fe", folder, device="cpu")
    assert generator.prompt.template.startswith("Question: ")
    assert generator.stand_in
