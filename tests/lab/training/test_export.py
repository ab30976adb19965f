"""Test that trained models can be exported and then score pairs without torch."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest

pytest.importorskip("torch")
pytest.importorskip("onnx")

import numpy as np
import onnx
import torch
from transformers import BertConfig, BertForSequenceClassification, BertModel

from paraqd import Scorer
from paraqd.cli.main import run
from paraqd.errors import ModelError
from paraqd.lab.training.export import _config, _weights, export_model
from paraqd.lab.training.exported_weights import load_exported
from paraqd.lab.training.judge_model import load_judge, make_judge, save_judge
from paraqd.lab.training.onnx_graph import OPSET, InputRange, _Graph, judge_graph
from paraqd.lab.training.settings import TrainingError
from paraqd.scoring.cosine import cosine_scores
from paraqd.scoring.judge import session as onnx_session
from paraqd.scoring.judge.bi_encoder import BiEncoder
from paraqd.scoring.judge.cross_encoder import CrossEncoder
from paraqd.scoring.judge.session import open_session
from paraqd.scoring.pair_preparation import prepare_pair
from paraqd.scoring.torch_encoder import load_encoder

# the header of a file of weights that claims to have a terabyte of them
HEADER = '{"x": {"dtype": "F32", "shape": [1048576, 262144], "data_offsets": [0, 1099511627776]}}'
TERABYTE = chr(len(HEADER)) + "\0" * 7 + HEADER
WORDS = "tom ann has 5 7 9 pens boys how many much and the a of is ? . , more half hour 30 minutes it takes".split()
PAIRS = [
    ("Tom has 5 pens and Ann has 7. How many?", "Ann has 7 pens, Tom has 5. How many pens?"),
    ("Tom has 5 pens.", "Tom has more pens and the boys?"),
    ("It takes half an hour.", "It takes 30 minutes. " * 40),
]


@pytest.fixture(scope="module")
def tokenizer(word_tokenizer):
    return word_tokenizer(WORDS)


@pytest.fixture(scope="module")
def config():
    torch.manual_seed(3)
    return BertConfig(
        vocab_size=len(WORDS) + 4,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        initializer_range=0.3,
        num_labels=1,
    )


@pytest.fixture(scope="module")
def bi_encoder(tmp_path_factory, tokenizer, config):
    folder = tmp_path_factory.mktemp("bi")
    BertModel(config).save_pretrained(str(folder))
    tokenizer.save_pretrained(str(folder))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 256}))
    (folder / "paraqd.json").write_text(json.dumps({"format": 1, "name": "bi", "kind": "bi-encoder"}))
    return folder


@pytest.fixture(scope="module")
def judge(tmp_path_factory, tokenizer, config):
    start, folder = tmp_path_factory.mktemp("start"), tmp_path_factory.mktemp("judge")
    BertForSequenceClassification(config).save_pretrained(str(start))
    save_judge(make_judge(start), tokenizer, folder)
    fusion = {"bias": 0.0, "weights": {"number_lost": -1.0}, "model_weight": 1.0}
    (folder / "paraqd.json").write_text(json.dumps({"format": 1, "kind": "fused", "fusion": fusion}))
    return folder


def test_cosines_match_torch_and_eight_bits_change_them_little(bi_encoder, tmp_path):
    done = export_model(bi_encoder, tmp_path / "full", pairs=PAIRS, bits=32)
    assert done.most == 0
    mine = [verdict.score for verdict in Scorer.load(tmp_path / "full", mode="encoder").score_pairs(PAIRS)]
    theirs = cosine_scores(load_encoder(str(bi_encoder), device="cpu"), PAIRS)
    assert mine[:2] == pytest.approx(theirs[:2].tolist(), abs=1e-5)
    assert mine[2] == pytest.approx(theirs[2], abs=0.05)  # the windows of the long text differ
    small = export_model(bi_encoder, tmp_path / "small", pairs=PAIRS, most_moved=1.0)
    assert 0 < small.most < 0.1
    assert small.megabytes < done.megabytes


def test_the_exported_judge_matches_torch(judge, tokenizer, tmp_path):
    export_model(judge, tmp_path / "full", pairs=PAIRS[:2], bits=32)
    (found, _) = CrossEncoder(tmp_path / "full").begin([prepare_pair(*pair) for pair in PAIRS[:2]])()
    inputs = tokenizer(*PAIRS[0], return_tensors="pt", return_token_type_ids=True)
    inputs["token_type_ids"] = torch.tensor([[part or 0 for part in sequence_ids(tokenizer, *PAIRS[0])]])
    with torch.inference_mode():
        valid, kinds, places = load_judge(judge).eval()(**inputs)
    assert found.log_odds == pytest.approx(float(valid[0]), abs=1e-4)
    assert found.kind_probabilities == pytest.approx(torch.softmax(kinds[0], -1).tolist(), abs=1e-4)
    marks = [mark.fault for mark in found.question_places]
    assert np.allclose(marks, places[0, 1 : 1 + len(marks)].numpy(), atol=1e-4)


def sequence_ids(tokenizer, question, paraphrase):
    ids = tokenizer(question, paraphrase).encodings[0].sequence_ids
    last = max(place for place, part in enumerate(ids) if part == 1)
    return [*ids[:last], 1, 1]  # the separator after the paraphrase belongs to the paraphrase


def test_training_can_start_from_an_exported_judge(judge, tmp_path):
    export_model(judge, tmp_path / "small", pairs=PAIRS[:2], most_moved=2.0)
    exact, found = load_judge(judge).state_dict(), load_exported(tmp_path / "small", judge).state_dict()
    assert set(found) == set(exact)
    for name, weight in exact.items():
        reach = float(weight.abs().max())
        # Weights have seven bits and a sign. Inputs of different sizes are balanced first, which some weights pay for.
        assert (found[name] - weight).abs().mean() <= reach / 63, name
    export_model(judge, tmp_path / "full", pairs=PAIRS[:2], bits=32)
    with pytest.raises(TrainingError, match="no judge that was exported with 8 bits"):
        load_exported(tmp_path / "full", judge)


def test_nothing_is_written_if_scores_change_too_much(bi_encoder, tmp_path):
    with pytest.raises(ModelError, match="1 % of the scores change by"):
        export_model(bi_encoder, tmp_path / "out", pairs=PAIRS, most_moved=1e-9)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("bits", [16, 32])
def test_the_command_writes_a_folder_that_score_loads(bi_encoder, tmp_path, bits, capsys, monkeypatch):
    check = tmp_path / "pairs.jsonl"
    check.write_text("".join(json.dumps({"question": q, "paraphrase": p}) + "\n" for q, p in PAIRS))
    monkeypatch.setattr(
        "sys.argv",
        [
            "paraqd",
            "lab",
            "export",
            str(bi_encoder),
            "-o",
            str(tmp_path / "out"),
            "--bits",
            str(bits),
            "--check",
            str(check),
            "--json",
        ],
    )
    assert run() == 0
    assert json.loads(capsys.readouterr().out)["pairs"] == 3
    assert (
        Scorer.load(tmp_path / "out", mode="encoder").score(*PAIRS[0]).signature.endswith("mode:encoder|threshold:0.5")
    )


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("paraqd.json", None, "not a model folder"),
        ("config.json", None, "no weights"),
        ("config.json", '{"model_type": "t5"}', "only bert"),
        ("model.safetensors", None, "no weights"),
        ("config.json", "{", r"config\.json cannot be read \(Expecting .*: train the model again"),
        ("config.json", "[]", r"config\.json cannot be read \(it is not a JSON object\): train the model again"),
        (
            "config.json",
            '{"model_type": "bert"}',
            r"model cannot be exported, .* \(KeyError\(.*: train the model again",
        ),
        ("model.safetensors", "", r"model\.safetensors cannot be read \(.*header too small\): train the model again"),
        ("model.safetensors", TERABYTE, r"model\.safetensors cannot be read \(.*not fully covered\): train the"),
        ("tokenizer.json", "{}", r"/model/tokenizer\.json cannot be loaded: .*; install or train the model again"),
    ],
)
def test_export_errors_are_one_line(bi_encoder, tmp_path, file, content, message):
    folder = tmp_path / "model"
    shutil.copytree(bi_encoder, folder)
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_text(content)
    with pytest.raises(ModelError, match=message) as caught:
        export_model(folder, tmp_path / "out", pairs=PAIRS)
    assert str(caught.value).isprintable() and not (tmp_path / "out").exists()


def test_an_exported_judge_that_is_damaged(judge, tmp_path):
    export_model(judge, tmp_path / "small", pairs=PAIRS[:2], most_moved=2.0)
    path = tmp_path / "small" / "onnx" / "model.onnx"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(TrainingError, match=r"no exported judge, or it is damaged \(.*\): start from another folder"):
        load_exported(tmp_path / "small", judge)
    graph = onnx.load_model_from_string(whole)
    tensor = graph.graph.initializer[0]
    (path.parent / "other.bin").write_bytes(tensor.raw_data)
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="other.bin")
    path.write_bytes(graph.SerializeToString())
    with pytest.raises(TrainingError, match=r"are in another file, which no hash covers\): start from another"):
        load_exported(tmp_path / "small", judge)


def test_each_mode_requires_its_own_kind_of_folder(bi_encoder, judge, tmp_path):
    export_model(bi_encoder, tmp_path / "bi", pairs=[], bits=32)
    export_model(judge, tmp_path / "judge", pairs=[], bits=32)
    with pytest.raises(ModelError, match="mode encoder"):
        Scorer.load(tmp_path / "bi")
    with pytest.raises(ModelError, match="does not contain a bi-encoder"):
        Scorer.load(tmp_path / "judge", mode="encoder")
    with pytest.raises(ModelError, match="choose fused or encoder"):
        Scorer.load(tmp_path / "judge", mode="other")


def test_the_signature_depends_on_the_weights(judge, tmp_path):
    export_model(judge, tmp_path / "eight", pairs=PAIRS, most_moved=2.0)
    export_model(judge, tmp_path / "full", pairs=PAIRS, bits=32)
    assert Scorer.load(tmp_path / "eight").signature != Scorer.load(tmp_path / "full").signature


def test_overlapping_calls_return_the_right_vectors(bi_encoder, tmp_path, monkeypatch):
    export_model(bi_encoder, tmp_path / "small", pairs=PAIRS, most_moved=1.0)
    ran = []

    def counted(session, rows, batch, outputs):
        ran.extend(batch)
        return run_batch(session, rows, batch, outputs)

    run_batch = onnx_session._run
    monkeypatch.setattr(onnx_session, "_run", counted)
    encoder = BiEncoder(tmp_path / "small", threads=2)
    first = encoder.begin(["tom has 5 pens", "ann has 7 pens and more"])
    second = encoder.begin(["ann has 7 pens and more", "how many pens ?", "how many pens ?"])
    later, sooner = second(), first()
    assert np.array_equal(later[0], sooner[1]) and np.array_equal(later[1], later[2])
    done = len(ran)
    assert np.array_equal(encoder(["how many pens ?", "tom has 5 pens"]), [later[1], sooner[0]])
    assert len(ran) == done  # the vectors were cached
    assert np.array_equal(BiEncoder(tmp_path / "small", threads=1)(["how many pens ?"])[0], later[1])


def test_texts_can_be_encoded_after_an_error(bi_encoder, tmp_path, monkeypatch):
    export_model(bi_encoder, tmp_path / "small", pairs=PAIRS, most_moved=1.0)
    encoder = BiEncoder(tmp_path / "small", threads=2)
    texts = ["tom has 5 pens", "ann has 7 pens and more", "how many ?"]

    def fails(*given):
        raise MemoryError("no more")

    with monkeypatch.context() as patched:
        patched.setattr(onnx_session, "_run", fails)
        with pytest.raises(MemoryError) as kept:
            encoder(texts)
    assert encoder(texts).shape == (3, 32)
    assert kept.value.args == ("no more",)  # the exception, with its traceback, is still referenced here


@pytest.mark.parametrize("divisors", [None, 1.5])
def test_fused_attention_matches_separate_nodes(judge, divisors):
    weights, config = _weights(judge), _config(judge)
    names = [name.removesuffix(".weight") for name in weights if ".layer." in name and name.endswith("dense.weight")]
    names += [
        name.removesuffix(".weight") for name in weights if ".attention.self." in name and name.endswith("weight")
    ]
    wide = np.full(32, divisors, dtype=np.float32) if divisors else None
    ranges = {
        name: InputRange(-4.0, 4.0, wide if "intermediate.dense" in name or ".self." in name else None)
        for name in names
    }
    unlike = {name: replace(held, high=4.0 + 1e-6) if name.endswith(".key") else held for name, held in ranges.items()}
    fed = {"input_ids": np.arange(24).reshape(2, 12) % 20 + 4, "token_type_ids": np.zeros((2, 12), dtype=np.int64)}
    made = []
    for held, operator in ((ranges, "QAttention"), (unlike, "MultiHeadAttention")):
        graph = judge_graph(weights, config, ranges=held)
        assert [node.op_type for node in graph.graph.node].count(operator) == 2
        session = open_session(graph.SerializeToString())
        made.append(session.run(["places"], fed)[0])
        alone = np.concatenate([session.run(["places"], {k: v[i : i + 1] for k, v in fed.items()})[0] for i in (0, 1)])
        assert np.array_equal(made[-1], alone)
    assert np.abs(made[0] - made[1]).max() < 0.02 and np.abs(made[0]).max() > 0.1


def test_layer_normalisation_matches_64_bits():
    from onnx import TensorProto, helper

    rng = np.random.default_rng(2)
    weights = {"n.weight": rng.normal(1, 0.2, 384), "n.bias": rng.normal(0, 0.2, 384)}
    weights = {name: held.astype(np.float32) for name, held in weights.items()}
    graph = _Graph(bits=8)
    made = graph.norm("x", weights, "n", 1e-12)
    given, told = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 384]) for name in ("x", made))
    model = helper.make_model(
        helper.make_graph(graph.nodes, "norm", [given], [told], graph.initializers),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=10,
    )
    session = open_session(model.SerializeToString())
    rows = rng.normal(0, 1, (40, 384))
    rows[20:] += 30  # these values are larger than any layer's states
    rows = rows.astype(np.float32).astype(np.float64)
    unit = (rows - rows.mean(1, keepdims=True)) / rows.std(1, keepdims=True)
    found = session.run(None, {"x": rows.astype(np.float32)})[0]
    assert np.abs(found - (unit * weights["n.weight"] + weights["n.bias"])).max() < 1e-3


def test_a_small_map_has_rounded_values():
    from onnx import numpy_helper

    rng = np.random.default_rng(4)
    weight = rng.normal(0, 1, (32, 6)).astype(np.float32)
    weight[:, 2] = 0
    graph = _Graph(bits=8)
    graph.matrix(weight, "large")
    integers, scale, _ = (numpy_helper.to_array(each) for each in graph.initializers)
    graph.small(weight, "small")
    held = numpy_helper.to_array(graph.initializers[-1])
    assert held.dtype == np.float32
    assert np.array_equal(held, integers.astype(np.float32) * scale)
    assert 0 < np.abs(held - weight).max() < 0.05


def test_the_approximation_of_gelu_is_close():
    from onnx import TensorProto, helper

    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"]) for name in ("x", "y", "z")]
    nodes = [helper.make_node("Gelu", ["x"], ["y"]), helper.make_node("FastGelu", ["x"], ["z"], domain="com.microsoft")]
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(helper.make_graph(nodes, "both", ends[:1], ends[1:]), opset_imports=opsets, ir_version=10)
    session = open_session(model.SerializeToString())
    exact, quick = session.run(None, {"x": np.linspace(-9, 9, 20_001, dtype=np.float32)})
    assert 1e-4 < np.abs(exact - quick).max() < 5e-4
