"""Training the generators, at the scale of seconds, from small files written here."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from paraqd.errors import ParaqdError
from paraqd.lab.generators import Decoding, GeneratorTrainingError, TrainingDataError, load_generator, train_generator
from paraqd.lab.generators.training_data import detokenized, read_paraphrases, read_questions

QUESTION = "A shop sells {n} pens for ${m} each day. How much money does the shop get in {k} days?"
QUESTIONS = [QUESTION.format(n=i, m=i + 2, k=i + 3) for i in range(3, 40)]


def write(path: Path, rows: list[dict[str, object]]) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    rows: list[dict[str, object]] = []
    for source in ("paws", "qqp", "mrpc"):
        for i in range(12):
            a, b = f"The {source} number {i} came before , not after .", f"Before came {source} number {i} ."
            rows.append({"a": a, "b": b, "label": i % 2, "source": source})
    write(folder / "general_paraphrases.jsonl.gz", rows)
    questions = [{"question": q, "split": "validation" if i == 0 else "train"} for i, q in enumerate(QUESTIONS)]
    write(folder / "questions.jsonl.gz", questions)
    return folder


PAIRS = [(question.replace("shop", "sells", 1), question) for question in QUESTIONS]


@pytest.mark.parametrize("kind", ["f9", "fe", "fb", "ssmba"])
def test_smoke_training_writes_a_generator_that_loads(data_dir, tmp_path, kind):
    steps: list[tuple[str, int, int, str]] = []
    folder = train_generator(
        kind,
        data_dir,
        tmp_path / kind,
        scale="smoke",
        seed=5,
        device="cpu",
        pairs=PAIRS if kind == "fb" else None,
        progress=lambda *news: steps.append(news),
    )
    assert [news[1] for news in steps] == list(range(1, steps[-1][2] + 1))
    assert {news[0] for news in steps} == {f"training {kind}"}
    assert (folder / "model.safetensors").is_file()
    card = json.loads((folder / "paraqd_generator.json").read_text())
    assert card["kind"] == kind
    assert card["stand_in"] is True
    assert card["scale"] == "smoke"
    assert card["rows"] == {"f9": 12, "fe": 12, "fb": 37, "ssmba": 36}[kind]
    assert len(card["data_sha256"]) == 64
    generator = load_generator(folder)
    assert generator.stand_in
    assert generator.by_sentence == (kind in ("f9", "fe"))
    assert generator.name == f"tiny/{kind}@{card['data_sha256'][:8]}"
    decoding = Decoding(do_sample=kind == "ssmba", max_new_tokens=12, keep_unfinished=True)
    assert generator.generate(QUESTIONS[:2], seed=1, decoding=decoding)
    assert sorted(path.name for path in tmp_path.iterdir()) == [kind]


@pytest.mark.parametrize("kind", ["f9", "ssmba"])
def test_killed_and_resumed_training_ends_with_the_same_weights(data_dir, tmp_path, kind):
    import torch
    from safetensors.torch import load_file

    def train(name: str, **options):
        return train_generator(kind, data_dir, tmp_path / name, scale="smoke", seed=9, device="cpu", **options)

    whole = load_file(train("whole") / "model.safetensors")
    done: list[int] = []

    def kill(stage: str, step: int, total: int, note: str) -> None:
        done.append(step)
        if len(done) == total // 2 + 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train("killed", progress=kill)
    assert not (tmp_path / "killed").exists()
    first = len(done)
    resumed = load_file(
        train("killed", progress=lambda stage, step, total, note: done.append(step)) / "model.safetensors"
    )
    assert 1 < done[first] <= done[first - 1] + 1  # it went on from a checkpoint, not from the start
    assert resumed.keys() == whole.keys()
    assert all(torch.equal(resumed[name], whole[name]) for name in whole)
    assert not (tmp_path / "killed.training").exists()


def test_a_checkpoint_of_another_training_is_not_taken_up(data_dir, tmp_path):
    steps: list[int] = []

    def kill(stage: str, step: int, total: int, note: str) -> None:
        if step == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_generator("f9", data_dir, tmp_path / "f9", scale="smoke", seed=1, device="cpu", progress=kill)
    train_generator(
        "f9",
        data_dir,
        tmp_path / "f9",
        scale="smoke",
        seed=2,
        device="cpu",
        progress=lambda stage, step, total, note: steps.append(step),
    )
    assert steps[0] == 1


def test_a_finished_folder_is_returned_and_another_is_not_written_over(data_dir, tmp_path):
    def train(seed: int, **options) -> Path:
        return train_generator("fe", data_dir, tmp_path / "fe", scale="smoke", seed=seed, device="cpu", **options)

    def never(*step: object) -> None:
        raise AssertionError("trained again")

    assert train(1) == train(1, progress=never)
    with pytest.raises(FileExistsError, match="already contains other files") as caught:
        train(2)
    assert isinstance(caught.value, ParaqdError)


def test_another_base_model_is_fine_tuned(data_dir, tmp_path, t5):
    folder = train_generator(
        "fb", None, tmp_path / "fb", scale="smoke", seed=1, device="cpu", base_model=str(t5), pairs=PAIRS
    )
    card = json.loads((folder / "paraqd_generator.json").read_text())
    assert (card["backend"], card["base"], card["by_sentence"]) == ("seq2seq", "t5", False)
    assert load_generator(folder).prompt.template == "Corrupted: {text}\nRestored:\n"


def test_a_loss_that_is_not_a_number_stops_the_training(data_dir, tmp_path, llama):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(llama)
    torch.nn.init.constant_(model.model.norm.weight, float("nan"))
    model.save_pretrained(tmp_path / "broken")
    AutoTokenizer.from_pretrained(llama).save_pretrained(tmp_path / "broken")
    with pytest.raises(GeneratorTrainingError, match="the loss at step 1 is nan"):
        train_generator(
            "f9", data_dir, tmp_path / "f9", scale="smoke", device="cpu", base_model=str(tmp_path / "broken")
        )
    assert not (tmp_path / "f9").exists()


def test_training_draws_nothing_from_the_global_state(data_dir, tmp_path):
    import torch

    before = torch.random.get_rng_state()
    train_generator("ssmba", data_dir, tmp_path / "s", scale="smoke", seed=1, device="cpu")
    assert torch.equal(before, torch.random.get_rng_state())


def test_bad_data_is_one_line(tmp_path):
    with pytest.raises(TrainingDataError, match=r"general_paraphrases.jsonl.gz is not in"):
        train_generator("f9", tmp_path, tmp_path / "out", scale="smoke")
    (tmp_path / "general_paraphrases.jsonl.gz").write_bytes(gzip.compress(b'{"a": "x"}\n' * 500)[:-12])
    with pytest.raises(TrainingDataError, match=r"cannot read general_paraphrases\.jsonl\.gz after line"):
        train_generator("f9", tmp_path, tmp_path / "out", scale="smoke")
    write(tmp_path / "questions.jsonl.gz", [])
    with pytest.raises(TrainingDataError, match="has no questions"):
        train_generator("ssmba", tmp_path, tmp_path / "out", scale="smoke")
    with pytest.raises(TrainingDataError, match="pass pairs"):
        train_generator("fb", tmp_path, tmp_path / "out", scale="smoke")
    with pytest.raises(ValueError, match="unknown kind 'f2'"):
        train_generator("f2", tmp_path, tmp_path / "out")


def test_readers(data_dir):
    assert len(read_questions(data_dir)) == len(QUESTIONS) - 1
    pairs = read_paraphrases(data_dir, source="paws")
    assert ("Before came paws number 1.", "The paws number 1 came before, not after.") in pairs
    assert all((b, a) in pairs for a, b in pairs)


@pytest.mark.parametrize(
    ("spaced", "plain"),
    [
        ("It is 5 % .", "It is 5%."),
        ("He said `` yes '' .", 'He said "yes".'),
        ('A " b " c', 'A "b" c'),
        ("Already plain, isn't it?", "Already plain, isn't it?"),
        ("( 1868 - 1870 ) , it 's", "(1868 - 1870), it's"),
    ],
)
def test_detokenized(spaced, plain):
    assert detokenized(spaced) == plain
