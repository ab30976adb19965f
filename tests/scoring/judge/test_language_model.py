"""A judgement of the language-model judge does not depend on the other pairs, and a damaged judge is refused."""

from __future__ import annotations

import gc
import multiprocessing
import random
import shutil
import threading
import weakref

import language_judge
import numpy as np
import pytest

from paraqd.errors import ModelError
from paraqd.model_folder import DEFAULT_MODEL, ONNX_FILE, PACKED_FILE
from paraqd.scoring.judge.cross_encoder import LONGEST
from paraqd.scoring.judge.language_model import LanguageModel
from paraqd.scoring.judge.packed_weights import expand_weights, write_weights
from paraqd.scoring.pair_preparation import prepare_pair

QUESTION = "Tom has 5 red pens and 3 blue pens. How many pens does he have in all?"
OTHER = "A train travels 120 km in 2 hours. What is its speed in km per hour?"
PAIRS = [
    (QUESTION, "Tom owns 5 red and 3 blue pens. How many pens does Tom own?"),
    (OTHER, "What is the speed of a train that needs 2 hours for 120 km?"),
    (QUESTION, "How many pens are there if 5 are red and three are blue?"),
    (QUESTION, "Tom has pens."),
    ("Ann reads 7 pages.", "Seven pages are read by Ann, who is in no hurry and reads them aloud."),
]


def answers(model, pairs):
    return [shown(each) for each in model.begin([prepare_pair(*pair) for pair in pairs])()]


def shown(judgement):
    places = (*judgement.question_places, *judgement.paraphrase_places)
    return judgement.log_odds, judgement.kind_probabilities, places


@pytest.fixture(scope="module")
def model(language_judge_folder):
    return LanguageModel(language_judge_folder, threads=2)


@pytest.fixture(scope="module")
def alone(model):
    return [answers(model, [pair])[0] for pair in PAIRS]


def test_the_judge_distinguishes_the_pairs(alone):
    assert np.std([log_odds for log_odds, _, _ in alone]) > 0.1


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_judgement_does_not_depend_on_company_order_or_threads(language_judge_folder, alone, threads):
    model = LanguageModel(language_judge_folder, threads=threads)
    order = list(range(len(PAIRS))) * 3
    for seed in range(3):
        random.Random(seed).shuffle(order)
        assert answers(model, [PAIRS[n] for n in order]) == [alone[n] for n in order]


def test_every_place_is_a_token_of_its_text(model):
    pair = prepare_pair(*PAIRS[0])
    (judgement,) = model.begin([pair])()
    for text, places in zip(pair.texts, (judgement.question_places, judgement.paraphrase_places), strict=True):
        assert "".join(text[place.start : place.end] for place in places) == text.replace(" ", "")


def test_a_long_text_is_read_in_windows_that_cover_it(model):
    question = " ".join(f"Box {n} holds {n + 3} pens." for n in range(300)) + " How many pens are there?"
    pair = prepare_pair(question, question.replace("holds", "has"))
    (judgement,) = model.begin([pair])()
    assert len(judgement.parts) > 5
    for text, places in zip(pair.texts, (judgement.question_places, judgement.paraphrase_places), strict=True):
        covered = bytearray(len(text))
        for place in places:
            covered[place.start : place.end] = b"\1" * (place.end - place.start)
        assert all(found or letter == " " for letter, found in zip(text, covered, strict=True))
    for part in judgement.parts:
        assert part.window.question.size + part.window.paraphrase.size <= LONGEST
    assert shown(model.begin([prepare_pair(*PAIRS[0]), pair])()[1]) == shown(judgement)


@pytest.mark.parametrize(
    "pair",
    [
        ("How many \ud83d pens?", "Some \udc00 pens. How many?"),
        ("?", "a"),
        ("x", " \u200b."),
        ("\0", "5"),
        ("Wie viele Äpfel? 🍎", "苹果有多少?"),
    ],
)
def test_odd_texts(model, pair):
    ((log_odds, probabilities, _),) = answers(model, [pair])
    assert np.isfinite(log_odds) and sum(probabilities) == pytest.approx(1)


def test_a_question_without_tokens(model):
    """A question can be empty after its markup has been removed."""
    ((log_odds, _, places),) = answers(model, [("<b></b>", "Tom has 5 pens.")])
    assert np.isfinite(log_odds) and places


def test_sixteen_threads_at_once(language_judge_folder, alone):
    model = LanguageModel(language_judge_folder, threads=2)
    start, found = threading.Barrier(16), {}

    def work(number):
        start.wait()
        found[number] = answers(model, PAIRS[number % 3 :])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert all(found[number] == alone[number % 3 :] for number in range(16))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system does not fork")
@pytest.mark.parametrize("threads", [1, 2])
def test_a_fork_after_the_model_has_been_used(language_judge_folder, alone, threads):
    model = LanguageModel(language_judge_folder, threads=threads)
    assert answers(model, PAIRS) == alone
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=lambda: queue.put([each[0] for each in answers(model, PAIRS)]), daemon=True)
    child.start()
    assert queue.get(timeout=60) == [each[0] for each in alone]
    child.join(60)
    assert child.exitcode == 0


def test_weights_that_are_not_numbers(tmp_path):
    pytest.importorskip("onnx")
    weights = language_judge.random_weights(language_judge.make_tokenizer().get_vocab_size())
    weights["valid.weight"][0, 3] = np.nan
    model = LanguageModel(language_judge.write_judge(tmp_path / "nan", weights=weights))
    with pytest.raises(ModelError, match=r"not finite"):
        answers(model, PAIRS)


def test_a_tokenizer_without_the_special_tokens(tmp_path):
    pytest.importorskip("onnx")
    tokenizer = language_judge.make_tokenizer(special=("[CLS]",))
    model = LanguageModel(language_judge.write_judge(tmp_path / "plain", tokenizer=tokenizer))
    with pytest.raises(ModelError, match=r"no token \[SEP\]"):
        answers(model, PAIRS)


def test_a_graph_that_is_not_a_language_model(tmp_path, language_judge_folder):
    onnx = pytest.importorskip("onnx")
    folder = shutil.copytree(language_judge_folder, tmp_path / "mixed")
    shutil.copyfile(DEFAULT_MODEL / ONNX_FILE, folder / ONNX_FILE)
    with pytest.raises(ModelError, match=r"model\.onnx cannot be loaded: "):  # the graph does not have these weights
        answers(LanguageModel(folder), PAIRS)
    write_weights(folder / PACKED_FILE, {})
    shown = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.INT64, [1, "n"]) for name in ("input_ids", "x")]
    node = onnx.helper.make_node("Identity", ["input_ids"], ["x"])
    graph = onnx.helper.make_graph([node], "other", shown[:1], shown[1:])
    opsets = [onnx.helper.make_opsetid("", 20)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10), folder / ONNX_FILE)
    with pytest.raises(ModelError, match=r"is not a language-model judge: install or train the model again"):
        answers(LanguageModel(folder), PAIRS)


@pytest.mark.parametrize("damage", [lambda whole: b"", lambda whole: whole[:2000], lambda whole: b"weights"])
def test_damaged_weights(tmp_path, language_judge_folder, damage):
    folder = shutil.copytree(language_judge_folder, tmp_path / "damaged")
    (folder / PACKED_FILE).write_bytes(damage((folder / PACKED_FILE).read_bytes()))
    with pytest.raises(ModelError, match=r"weights\.npz cannot be loaded: .+; install or train") as found:
        answers(LanguageModel(folder), PAIRS)
    assert "\n" not in str(found.value)


def test_missing_weights(tmp_path, language_judge_folder):
    folder = shutil.copytree(language_judge_folder, tmp_path / "missing")
    (folder / PACKED_FILE).unlink()
    with pytest.raises(ModelError, match=r"weights\.npz cannot be loaded: No such file"):
        answers(LanguageModel(folder), PAIRS)


def test_the_expanded_weights_are_released(language_judge_folder, alone, monkeypatch):
    """The runtime copies them, so it does not notice when they change."""
    arrays = []

    def noted(content, path):
        arrays.append(expand_weights(content, path))
        return arrays[-1]

    monkeypatch.setattr("paraqd.scoring.judge.language_model.expand_weights", noted)
    model = LanguageModel(language_judge_folder, threads=2)
    assert model.session and len(arrays) == 1
    for each in arrays[0].values():
        each.fill(0)
    assert answers(model, PAIRS) == alone
    held = [weakref.ref(each) for each in arrays.pop().values()]
    del each
    gc.collect()
    assert held and all(one() is None for one in held)
