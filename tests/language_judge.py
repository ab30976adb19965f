"""Build a tiny language-model judge with random weights, and install it as a package; all else is as in a real one."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from paraqd import Scorer
from paraqd.model_folder import TOKENIZER_FILE, write_facts
from paraqd.scoring.verdict import EvidenceKind

LAYERS, HEADS, KEY_HEADS, HEAD_SIZE, INNER = 2, 4, 2, 16, 128
WIDTH = HEADS * HEAD_SIZE
FUSION = {"bias": 0.1, "weights": {"number_lost": -2.0, "number_changed": -2.0}, "model_weight": 0.8}
TEXTS = [
    "Tom has 5 red pens and 3 blue pens. How many pens does he have in all?",
    "A train travels 120 km in 2 hours. What is its speed in km per hour?",
    "Ann buys 12 apples and gives 4 of them to her brother. How many apples are left?",
]


def default_model():
    """Return the name and hash of the default model, as in its signature."""
    return dict(part.split(":", 1) for part in Scorer.load(judge="small").signature.split("|"))["model"]


def facts_of_judge(**cascade):
    """Return the facts about a judge that belongs to the default model."""
    use = {"model": default_model(), "first_share": 0.5, "low": -2.0, "high": 2.0, "fusion": FUSION, **cascade}
    return {"name": "tiny-lm", "kind": "language-model", "kinds": [kind.value for kind in EvidenceKind], "cascade": use}


def make_tokenizer(special=("<|im_start|>", "<|im_end|>")):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=330, special_tokens=list(special), initial_alphabet=alphabet)
    tokenizer.train_from_iterator(TEXTS, trainer)
    return tokenizer


def random_weights(words, seed=3):
    rng = np.random.default_rng(seed)

    def some(*shape):
        return rng.normal(0, 0.15, shape).astype(np.float32)

    weights = {"body.embed_tokens.weight": some(words, WIDTH) * 6, "body.norm.weight": np.ones(WIDTH, np.float32)}
    for number in range(LAYERS):
        layer = f"body.layers.{number}"
        for name, size in (("q", WIDTH), ("k", KEY_HEADS * HEAD_SIZE), ("v", KEY_HEADS * HEAD_SIZE), ("o", WIDTH)):
            weights[f"{layer}.self_attn.{name}_proj.weight"] = some(size, WIDTH) * 2
        for name in ("gate", "up"):
            weights[f"{layer}.mlp.{name}_proj.weight"] = some(INNER, WIDTH)
        weights[f"{layer}.mlp.down_proj.weight"] = some(WIDTH, INNER)
        for name in ("input_layernorm", "post_attention_layernorm"):
            weights[f"{layer}.{name}.weight"] = np.ones(WIDTH, np.float32)
    for name, size in (("valid", 1), ("kinds", len(EvidenceKind)), ("places", 1)):
        weights[f"{name}.weight"], weights[f"{name}.bias"] = some(size, WIDTH) * 2, some(size)
    return weights


def shape_of_judge():
    from paraqd.training.causal_onnx import Shape

    return Shape(LAYERS, HEADS, KEY_HEADS, HEAD_SIZE, WIDTH, epsilon=1e-5, rotation=10_000.0)


def write_judge(folder, *, weights=None, tokenizer=None, facts=None):
    """Write the model folder of a judge."""
    from paraqd.training.causal_onnx import write_causal_judge

    folder = Path(folder)
    folder.mkdir(parents=True)
    tokenizer = tokenizer or make_tokenizer()
    tokenizer.save(str(folder / TOKENIZER_FILE))
    weights = weights or random_weights(tokenizer.get_vocab_size())
    write_causal_judge(weights, shape_of_judge(), folder)
    write_facts(folder, facts or facts_of_judge())
    return folder


def install_judge(site, model, *, package="paraqd-judge-lm", code=None):
    """Install a judge package that contains a copy of a model folder in a folder of packages, as pip would."""
    module = package.replace("-", "_")
    root, info = Path(site) / module, Path(site) / f"{module}-0.dist-info"
    root.mkdir(parents=True)
    info.mkdir()
    shutil.copytree(model, root / "model")
    text = 'from pathlib import Path\n\n\ndef folder():\n    return Path(__file__).parent / "model"\n'
    (root / "__init__.py").write_text(code or text)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0\n")
    (info / "entry_points.txt").write_text(f"[paraqd.judges]\nlanguage-model = {module}:folder\n")
    return root / "model"
