"""Generators of every class: the same for the same seed whatever the batch, in order, nothing cut."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

from paraqd.lab.generators import (
    CausalGenerator,
    Decoding,
    Generator,
    GeneratorUnavailableError,
    MaskedGenerator,
    MissingExtraError,
    Prompt,
    Seq2SeqGenerator,
    load_generator,
    require_extra,
)
from paraqd.paraphrasing.text_models.engine import make_engine
from paraqd.paraphrasing.text_models.masked import Corrupted, Hole

TEXTS = [
    "Tom has 5 apples. How many apples does Tom have?",
    "What is its speed?",
    "A train covers 120 km in 2 hours.",
    "Tom has 5 apples.",
    "A pen costs $3. Find the cost of 4 pens.",
]
PROMPTS = {"t5": Prompt("paraphrase: {text}"), "llama": Prompt("Text: {text}\nAgain:\n")}
DECODINGS = {
    "greedy": Decoding(),
    "beam": Decoding(num_beams=3, num_candidates=2),
    "sampled": Decoding(do_sample=True, temperature=1.5, top_p=0.95, num_candidates=3, keep_unfinished=True),
    "diverse": Decoding(diversity=2.0, num_candidates=3, keep_unfinished=True),
}


@pytest.fixture(params=["fsmt_forward", "pegasus", "t5", "llama"])
def generator(request: pytest.FixtureRequest) -> Generator:
    folder = request.getfixturevalue(request.param)
    return load_generator(folder, device="cpu", prompt=PROMPTS.get(request.param))


@pytest.mark.parametrize("way", DECODINGS)
def test_output_depends_on_neither_the_batch_nor_the_order(generator, way):
    decoding = DECODINGS[way]
    together = generator.generate(TEXTS, seed=11, decoding=decoding)
    assert any(together)
    backwards = generator.generate(TEXTS[::-1], seed=11, decoding=decoding)
    assert backwards[::-1] == together
    alone = [generator.generate([text], seed=11, decoding=decoding)[0] for text in TEXTS]
    assert alone == together


def test_small_batches_give_the_same(generator):
    engine = dataclasses.replace(generator.engine, batch_tokens=60)
    small = dataclasses.replace(generator, engine=engine)
    for decoding in DECODINGS.values():
        assert small.generate(TEXTS, seed=2, decoding=decoding) == generator.generate(TEXTS, seed=2, decoding=decoding)


def test_samples_change_with_the_seed_and_each_text_may_have_its_own(generator):
    # hot: these models are so sure of their sentences that they would say the same again
    decoding = dataclasses.replace(DECODINGS["sampled"], temperature=20.0, top_p=1.0)
    first = generator.generate(TEXTS, seed=1, decoding=decoding)
    assert generator.generate(TEXTS, seed=1, decoding=decoding) == first
    second = generator.generate(TEXTS, seed=2, decoding=decoding)
    assert second != first
    mixed = generator.generate(TEXTS[:2], seed=[1, 2], decoding=decoding)
    assert mixed == [first[0], second[1]]


def test_diverse_candidates_differ_and_begin_with_the_greedy_one(generator):
    diverse = generator.generate(
        TEXTS, seed=0, decoding=Decoding(diversity=50.0, num_candidates=3, keep_unfinished=True)
    )
    greedy = generator.generate(TEXTS, seed=0, decoding=Decoding(keep_unfinished=True))
    assert all(len(candidates) >= 2 and len(set(candidates)) == len(candidates) for candidates in diverse)
    assert [candidates[0] for candidates in diverse] == [candidates[0] for candidates in greedy]


def test_blank_odd_and_overlong_texts(generator):
    texts = ["", "  \n", "What is its speed?", "Tom \ud800 \x00 \U0001f600", "apples " * 3000]
    found = generator.generate(texts, seed=0, decoding=Decoding(keep_unfinished=True))
    assert found[0] == found[1] == found[4] == []
    assert found[2]


def test_global_random_state_is_left_alone(generator):
    import torch

    before = torch.random.get_rng_state()
    generator.generate(TEXTS[:2], seed=0, decoding=DECODINGS["sampled"])
    assert torch.equal(before, torch.random.get_rng_state())


def test_memorised_pairs_come_back(fsmt_forward, pegasus, t5, llama):
    assert load_generator(fsmt_forward).generate(["Tom has 5 apples."], seed=0) == [["Tom hat 5 Äpfel."]]
    for folder in (pegasus, t5, llama):
        model = load_generator(folder, prompt=PROMPTS.get(folder.name))
        assert model.generate(["What is its speed?"], seed=0) == [["How fast is it?"]]


def test_an_unfinished_candidate_is_left_out_unless_asked_for(pegasus):
    model = load_generator(pegasus)
    text = ["A train covers 120 km in 2 hours."]
    assert model.generate(text, seed=0, decoding=Decoding(max_new_tokens=2)) == [[]]
    cut = model.generate(text, seed=0, decoding=Decoding(max_new_tokens=2, keep_unfinished=True))
    assert "A train covers 120 km.".startswith(cut[0][0])


def test_the_backend_follows_the_model(fsmt_forward, llama, bert):
    assert isinstance(load_generator(fsmt_forward), Seq2SeqGenerator)
    assert isinstance(load_generator(llama), CausalGenerator)
    assert isinstance(load_generator(bert), MaskedGenerator)
    assert load_generator(llama).name == "llama"


def test_masked_generator_replaces_some_tokens_and_keeps_the_rest(bert):
    model = load_generator(bert)
    decoding = Decoding(do_sample=True, num_candidates=4)
    together = model.generate(TEXTS, seed=3, decoding=decoding)
    assert [model.generate([text], seed=3, decoding=decoding)[0] for text in TEXTS] == together
    assert model.generate(TEXTS, seed=4, decoding=decoding) != together
    for text, candidates in zip(TEXTS, together, strict=True):
        assert any(candidate != text for candidate in candidates)
        for candidate in candidates:
            kept = set(text.split()) & set(candidate.split())
            assert len(kept) >= len(set(text.split())) // 2
    assert model.generate(["", " ", "word " * 2000], seed=0) == [[], [], []]


def test_how_many_holes_are_filled_at_once_changes_nothing(bert, monkeypatch):
    generator = MaskedGenerator.load(bert, rate=0.5)
    texts = ["Tom has 5 red apples and 3 green ones.", "How many apples does he have in all?"]
    decoding = Decoding(do_sample=True, num_candidates=3)
    together = generator.generate(texts, seed=1, decoding=decoding)
    monkeypatch.setattr("paraqd.paraphrasing.text_models.masked._CPU_SCORES", 1)  # one by one
    assert generator.generate(texts, seed=1, decoding=decoding) == together


def test_masked_generator_glues_no_words_together(bert):
    model = dataclasses.replace(load_generator(bert), rate=0.6)
    for candidates in model.generate(TEXTS, seed=5, decoding=Decoding(do_sample=True, num_candidates=5)):
        for candidate in candidates:
            assert max(len(word) for word in candidate.split()) < 14


def test_a_word_put_in_place_of_a_sign_stands_apart(bert):
    model = load_generator(bert)
    text = "Tom, has 5 apples,in all"
    spelling = model.tokenizer.get_vocab()
    holes = [Hole(1, 0, 3, True), Hole(2, 3, 4, True), Hole(6, 17, 18, True)]
    filled = model._splice(text, Corrupted([], holes, 0), [spelling["train"], spelling["is"], spelling["of"]])
    assert filled == "train is has 5 apples of in all"


def test_an_output_ends_at_the_tokenizers_or_the_models_end(llama):
    """A converted model's tokenizer may name another end token than the model's own settings do."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model, tokenizer = AutoModelForCausalLM.from_pretrained(llama), AutoTokenizer.from_pretrained(llama)
    taught = tokenizer.eos_token_id
    model.generation_config.eos_token_id = [7, 8]
    engine = make_engine(model, tokenizer, causal=True, batch_tokens=1000)
    assert engine.model.generation_config.eos_token_id == [taught, 7, 8]
    generator = CausalGenerator(engine=engine, name="x", prompt=PROMPTS["llama"])
    assert generator.generate(["What is its speed?"], seed=0) == [["How fast is it?"]]


def test_precision_is_float32_unless_asked(llama):
    import torch

    assert load_generator(llama).engine.model.dtype == torch.float32
    assert load_generator(llama, dtype="bfloat16").engine.model.dtype == torch.bfloat16
    with pytest.raises(ValueError, match="unknown precision 'int4'"):
        load_generator(llama, dtype="int4")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "facebook/wmt19-en-de",
            "Backtranslation needs facebook/wmt19-en-de, which is not in the local cache and cannot be downloaded; "
            "pass a folder with --generator f1.forward=DIR, or use --stand-ins",
        ),
        (
            "./no/such/folder",
            "Backtranslation needs the folder './no/such/folder', which does not exist; "
            "pass a folder with --generator f1.forward=DIR, or use --stand-ins",
        ),
    ],
)
def test_an_absent_model_is_one_line(monkeypatch, tmp_path, name, expected):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(GeneratorUnavailableError) as raised:
        load_generator(name, needed_by="Backtranslation", option="f1.forward")
    assert str(raised.value) == expected


def test_folders_that_are_no_models_are_one_line(tmp_path: Path):
    with pytest.raises(GeneratorUnavailableError, match=r"has no config\.json"):
        load_generator(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "t5"}')
    with pytest.raises(GeneratorUnavailableError) as raised:
        load_generator(tmp_path)
    assert "\n" not in str(raised.value)
    with pytest.raises(GeneratorUnavailableError, match=r"the model file .* does not exist"):
        load_generator(tmp_path / "absent.gguf")


def test_a_missing_extra_is_one_line_that_names_it():
    with pytest.raises(MissingExtraError, match=r"^absent is not installed .*: pip install 'paraqd\[generate\]'$"):
        require_extra(["torch", "absent"])


def test_importing_the_package_loads_no_model_library():
    code = (
        "import sys, paraqd.lab.generators\n"
        "sys.exit(any(name in sys.modules for name in ('torch', 'transformers', 'tokenizers')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    "options",
    [
        {"num_candidates": 2},
        {"num_beams": 2, "num_candidates": 3},
        {"num_beams": 2, "do_sample": True},
        {"do_sample": True, "diversity": 1.0},
        {"temperature": 0.0},
        {"top_p": 0.0},
        {"max_new_tokens": 0},
        {"num_candidates": 0},
    ],
)
def test_decodings_that_mean_nothing_are_refused(options):
    with pytest.raises(ValueError, match=r"\w"):
        Decoding(**options)


def test_prompts():
    assert Prompt("Say {text}!").fill("{text}") == "Say {text}!"
    assert Prompt("{text}", end="\n").answer(" one \ntwo") == "one"
    with pytest.raises(ValueError, match="exactly once"):
        Prompt("no place")


def test_one_seed_for_each_text(llama):
    with pytest.raises(ValueError, match="1 seeds for 2 texts"):
        load_generator(llama).generate(["a", "b"], seed=[1])


@pytest.mark.parametrize(
    ("card", "why"),
    [
        ("[]", "it is not a JSON object"),
        ("[" * 100_000, "recursion"),
        ('{"backend": "causal"}', r"is damaged \(KeyError\('base'\)\): train or copy the generator again"),
        ('{"base": "a", "kind": "b", "data_sha256": 5}', r"is damaged \(TypeError"),
        ('{"base": "a", "kind": "b", "data_sha256": "c", "prompt": []}', r"is damaged \(TypeError"),
        (
            '{"base": "a", "kind": "b", "data_sha256": "c", "prompt": {"template": "", "end": ""}}',
            "must contain {text}",
        ),
    ],
    ids=range(6),
)
def test_a_damaged_card_is_one_line(tmp_path, card, why):
    (tmp_path / "paraqd_generator.json").write_text(card)
    with pytest.raises(GeneratorUnavailableError, match=why) as caught:
        load_generator(tmp_path)
    assert str(caught.value).isprintable() and "paraqd_generator.json" in str(caught.value)
