"""Build a tiny language-model judge with random weights, and install it as a package; all else is as in a real one."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from paraqd import QuestionFault, Scorer
from paraqd.model_folder import TOKENIZER_FILE, write_facts
from paraqd.scoring.verdict import EvidenceKind

LAYERS, HEADS, HEAD_SIZE, INNER, BUCKETS = 2, 4, 16, 128, 32
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


def make_tokenizer(special=("[CLS]", "[SEP]")):
    """Return a tokenizer that knows the words in `TEXTS` and spells all others."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    letters = [chr(code) for code in range(33, 127) if not chr(code).isupper()]
    words = sorted({word for text in TEXTS for word in text.lower().replace("?", "").replace(".", "").split()})
    names = dict.fromkeys(["[PAD]", "[UNK]", *special, *letters, *(f"##{letter}" for letter in letters), *words])
    tokenizer = Tokenizer(models.WordPiece({name: number for number, name in enumerate(names)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def random_weights(words, seed=3):
    rng = np.random.default_rng(seed)

    def some(*shape):
        return rng.normal(0, 0.15, shape).astype(np.float32)

    weights = {
        "body.embeddings.word_embeddings.weight": some(words, WIDTH) * 6,
        "body.embeddings.position_embeddings.weight": some(514, WIDTH),
        "body.encoder.relative_attention_bias.weight": some(BUCKETS, HEADS) * 4,
        "types.weight": some(2, WIDTH),
    }
    linear = {"pooler": (WIDTH, WIDTH), "valid": (1, WIDTH), "kinds": (len(EvidenceKind), WIDTH), "places": (1, WIDTH)}
    norms = ["body.embeddings.LayerNorm"]
    for number in range(LAYERS):
        layer = f"body.encoder.layer.{number}"
        linear |= {f"{layer}.attention.attn.{name}": (WIDTH, WIDTH) for name in "qkvo"}
        linear |= {f"{layer}.intermediate.dense": (INNER, WIDTH), f"{layer}.output.dense": (WIDTH, INNER)}
        norms += [f"{layer}.attention.LayerNorm", f"{layer}.output.LayerNorm"]
    for name, shape in linear.items():
        weights[f"{name}.weight"], weights[f"{name}.bias"] = some(*shape) * 2, some(shape[0])
    for name in norms:
        weights[f"{name}.weight"], weights[f"{name}.bias"] = 1 + some(WIDTH), some(WIDTH)
    return weights


def shape_of_judge():
    from paraqd.lab.training.language_onnx import Shape

    return Shape(HEADS, epsilon=1e-5)


def write_base(folder, tokens):
    """Write an untrained MPNet of two narrow layers, whose vocabulary contains the given tokens of an encoder."""
    import torch
    from tokenizers import Tokenizer, models
    from transformers import MPNetConfig, MPNetModel, PreTrainedTokenizerFast

    own = {"[CLS]": "<s>", "[PAD]": "<pad>", "[SEP]": "</s>"}
    names = dict.fromkeys([*own.values(), "<unk>", *(each for each in tokens if each not in own), "<mask>"])
    made = Tokenizer(models.WordPiece({name: number for number, name in enumerate(names)}, unk_token="[UNK]"))
    torch.manual_seed(5)
    config = MPNetConfig(
        vocab_size=len(names),
        hidden_size=WIDTH,
        intermediate_size=INNER,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        max_position_embeddings=514,
        initializer_range=0.1,
    )
    MPNetModel(config, add_pooling_layer=False).save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=made).save_pretrained(folder)
    return folder


def write_judge(folder, *, weights=None, tokenizer=None, facts=None):
    """Write the model folder of a judge."""
    from paraqd.lab.training.language_onnx import write_language_judge

    folder = Path(folder)
    folder.mkdir(parents=True)
    tokenizer = tokenizer or make_tokenizer()
    tokenizer.save(str(folder / TOKENIZER_FILE))
    weights = weights or random_weights(tokenizer.get_vocab_size())
    write_language_judge(weights, shape_of_judge(), folder)
    write_facts(folder, facts or facts_of_judge())
    return folder


def write_question_model(folder, calibration=(0.5, 0.1)):
    """Write the model folder of a large model for single questions."""
    tokenizer = make_tokenizer()
    weights = random_weights(tokenizer.get_vocab_size(), seed=4)
    weights |= {f"kinds.{part}": weights[f"kinds.{part}"][: len(QuestionFault)] for part in ("weight", "bias")}
    scale, offset = calibration
    facts = {
        "name": "tiny-solvable",
        "kind": "solvable",
        "kinds": [kind.value for kind in QuestionFault],
        "calibration": {"scale": scale, "offset": offset},
    }
    return write_judge(folder, weights=weights, tokenizer=tokenizer, facts=facts)


def install_judge(site, model, *, package="paraqd-judge-lm", group="paraqd.judges", code=None):
    """Install a package that contains a copy of a model folder in a folder of packages, as pip would."""
    module = package.replace("-", "_")
    root, info = Path(site) / module, Path(site) / f"{module}-0.dist-info"
    root.mkdir(parents=True)
    info.mkdir()
    shutil.copytree(model, root / "model")
    text = 'from pathlib import Path\n\n\ndef folder():\n    return Path(__file__).parent / "model"\n'
    (root / "__init__.py").write_text(code or text)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\nmodel = {module}:folder\n")
    return root / "model"
