"""A tiny judge with random weights; all else is as in a real one."""

from __future__ import annotations

import json

import numpy as np
import pytest

from paraqd.lab.corpora.question_texts import KINDS

WORDS = "tom ann has have 5 7 9 12 30 pens boys girls how many much and the a of in is was he she ? . , more".split()


@pytest.fixture(scope="session")
def judge_folder(tmp_path_factory):
    fusion = {"bias": 0.2, "weights": {"number_lost": -2.0, "number_changed": -2.0}, "model_weight": 0.7}
    return write_judge(tmp_path_factory.mktemp("judge"), {"name": "tiny", "kind": "fused", "fusion": fusion}, kinds=11)


@pytest.fixture(scope="session")
def question_judge_folder(tmp_path_factory):
    """The same for single questions."""
    facts = {"name": "tiny", "kind": "solvable", "kinds": list(KINDS), "calibration": {"scale": 0.5, "offset": 0.1}}
    return write_judge(tmp_path_factory.mktemp("question-judge"), facts, kinds=len(KINDS))


def write_judge(folder, facts, kinds):
    pytest.importorskip("onnx")
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    from paraqd.lab.training.onnx_graph import judge_graph, write_graph

    vocabulary = {word: place for place, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    width, layers, inner = 16, 2, 32
    rng = np.random.default_rng(7)

    def some(*shape):
        return rng.normal(0, 0.3, shape).astype(np.float32)

    shapes = {
        "embeddings.word_embeddings.weight": (len(vocabulary), width),
        "embeddings.token_type_embeddings.weight": (2, width),
        "embeddings.position_embeddings.weight": (512, width),
        "pooler.dense": (width, width),
    }
    for number in range(layers):
        layer = f"encoder.layer.{number}"
        for name in ("self.query", "self.key", "self.value", "output.dense"):
            shapes[f"{layer}.attention.{name}"] = (width, width)
        shapes[f"{layer}.intermediate.dense"] = (inner, width)
        shapes[f"{layer}.output.dense"] = (width, inner)
    weights = {}
    for name, shape in shapes.items():
        if name.endswith(".weight"):
            weights[f"classifier.bert.{name}"] = some(*shape)
        else:
            weights[f"classifier.bert.{name}.weight"] = some(*shape)
            weights[f"classifier.bert.{name}.bias"] = some(shape[0])
    norms = ["embeddings.LayerNorm"]
    norms += [f"encoder.layer.{n}.{part}.LayerNorm" for n in range(layers) for part in ("attention.output", "output")]
    for name in norms:
        weights[f"classifier.bert.{name}.weight"] = np.ones(width, np.float32)
        weights[f"classifier.bert.{name}.bias"] = np.zeros(width, np.float32)
    for name, size in (("classifier.classifier", 1), ("kinds", kinds), ("places", 1)):
        weights[f"{name}.weight"], weights[f"{name}.bias"] = some(size, width) * 4, some(size)
    config = {"layer_norm_eps": 1e-12, "num_hidden_layers": layers, "num_attention_heads": 2, "hidden_size": width}
    write_graph(judge_graph(weights, config), folder / "onnx" / "model.onnx")
    (folder / "paraqd.json").write_text(json.dumps({"format": 1, **facts}))
    return folder
