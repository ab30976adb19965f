"""Provide triplets of hand-made questions, a tiny encoder, and pairs for the judge."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
pytest.importorskip("sentence_transformers")

import numpy as np
import torch

from paraqd.lab.corpora.faulty_pairs import FaultyPair
from paraqd.lab.corpora.triplets import make_triplets

NAMES = ("Asha", "Ben", "Chen", "Dora", "Emil", "Fay", "Gita", "Hugo", "Ines", "Jack", "Kim", "Lena")
THINGS = ("pens", "apples", "stamps", "marbles", "coins", "books")


def question_rows(names=NAMES, things=THINGS):
    """Yield rows as written by ``paraqd lab augment``, with two valid and three invalid outputs for each question."""
    for n, name in enumerate(names):
        thing, had, lost = things[n % len(things)], 12 + n, 3 + n % 5
        question = f"{name} has {had} {thing} and loses {lost} of them. How many {thing} are left?"
        outputs = [
            ("SameSentence", 1, question),
            ("Rewrite", 1, f"Out of {had} {thing}, {name} loses {lost}. How many {thing} remain?"),
            ("NumberDeletion", 0, f"{name} has some {thing} and loses {lost} of them. How many {thing} are left?"),
            ("LastSentenceDeletion", 0, f"{name} has {had} {thing} and loses {lost} of them."),
            ("UnitReplacement", 0, f"{name} has {had} hours and loses {lost} of them. How many {thing} are left?"),
        ]
        for operator, label, paraphrase in outputs:
            yield {
                "id": f"q{n}",
                "question": question,
                "paraphrase": paraphrase,
                "label": label,
                "operator": operator,
            }


@pytest.fixture(scope="session")
def augmented_rows():
    return list(question_rows())


@pytest.fixture(scope="session")
def triplets():
    return make_triplets(question_rows(), seed=1)


@pytest.fixture(scope="session")
def in_batch_triplets():
    return make_triplets((row for row in question_rows() if row["label"]), seed=1, in_batch=True)


@pytest.fixture(scope="session")
def validation():
    return make_triplets(question_rows(names=("Mia", "Noor", "Otto", "Pia")), seed=1)


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory):
    """Return the folder of a bi-encoder so small that writing its checkpoints takes hardly any time."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer

    from paraqd.lab.generators.tiny import tiny_masked
    from paraqd.lab.generators.training_loop import seeded

    with seeded(1, "cpu"):
        model, tokenizer = tiny_masked([row["paraphrase"] for row in question_rows()])
    plain = tmp_path_factory.mktemp("tiny") / "plain"
    model.base_model.save_pretrained(plain)
    tokenizer.save_pretrained(plain)
    transformer = Transformer(str(plain))
    folder = plain.with_name("encoder")
    pooling = Pooling(transformer.get_embedding_dimension())
    SentenceTransformer(modules=[transformer, pooling, Normalize()], device="cpu").save_pretrained(str(folder))
    return folder


@pytest.fixture(autouse=True, scope="session")
def single_thread():
    """Use one thread, because more threads do not help small models and slow them down on a busy machine."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def word_tokenizer():
    """Return a function that creates a tokenizer with the given words and BERT's special tokens."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    def make(words):
        known = dict.fromkeys(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words])
        made = Tokenizer(models.WordPiece({word: place for place, word in enumerate(known)}, unk_token="[UNK]"))
        made.normalizer = normalizers.BertNormalizer()
        made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
        return PreTrainedTokenizerFast(
            tokenizer_object=made, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]"
        )

    return make


JUDGE_NAMES = "tom ann bob eve".split()
JUDGE_THINGS = "pens cups hats toys".split()
JUDGE_WORDS = [
    *JUDGE_NAMES,
    *JUDGE_THINGS,
    *map(str, range(2, 10)),
    *"has how many ? . an hour takes it half 30 minutes does have".split(),
]


def faulty_pairs(count, seed=0):
    rng = np.random.default_rng(seed)
    made = []
    for number in range(count):
        name, thing, size = rng.choice(JUDGE_NAMES), rng.choice(JUDGE_THINGS), int(rng.integers(2, 9))
        question = f"{name} has {size} {thing}. How many {thing} does {name} have?"
        label = number % 2
        shown = thing if label else "minutes"  # "minutes" makes no sense here
        text = f"How many {thing} does {name} have? {name} has {size} {shown}."
        start = text.rindex(shown)
        spans = () if label else ((start, start + len(shown)),)
        made.append(FaultyPair(str(number), question, text, label, "" if label else "incoherent", "", (), spans))
    return made


@pytest.fixture(scope="session")
def judge_words():
    """Return the words that occur in `pairs`."""
    return JUDGE_WORDS


@pytest.fixture(scope="session")
def pairs():
    """Return a function that creates pairs; each invalid pair contains a word that makes no sense."""
    return faulty_pairs


@pytest.fixture(scope="session")
def word_encoder(tmp_path_factory, word_tokenizer):
    """Return a folder with the tokenizer of an encoder that knows the words in `pairs`."""
    folder = tmp_path_factory.mktemp("word-encoder")
    word_tokenizer(JUDGE_WORDS).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def language_base(tmp_path_factory, word_tokenizer):
    """Return the folder of an untrained MPNet of two layers, whose vocabulary contains that of `word_encoder`."""
    import language_judge  # programs that tests start import this file without the folder of this module

    return language_judge.write_base(tmp_path_factory.mktemp("mpnet"), word_tokenizer(JUDGE_WORDS).get_vocab())
