"""Training with a reward makes rewarded completions more likely, and can be resumed."""

from __future__ import annotations

import math

import pytest
import torch

from paraqd import ParaqdError
from paraqd.lab.generators import policy_training
from paraqd.lab.generators.policy_training import PolicySettings, advantages_of, half_copy, train_policy
from paraqd.lab.generators.tiny import tiny_causal
from paraqd.lab.generators.training_loop import GeneratorTrainingError, one_thread, seeded

TEXTS = ["Tom has 5 pens. How many pens has he?", "A box holds 12 eggs. How many eggs are in 4 boxes?"]
ROWS = [{"prompt": f"Rewrite: {text}\n", "question": text} for text in TEXTS]
SMALL = PolicySettings(steps=4, prompts=2, group=4, learning_rate=1e-3, max_new_tokens=6, checkpoint_every=1)


@pytest.fixture
def tiny():
    def make():
        with seeded(3, "cpu"):
            return tiny_causal(TEXTS)

    with one_thread():
        yield make


def share_of_vowels(completions, **columns):
    return [sum(letter in "aeiou" for letter in text) / max(1, len(text)) for text in completions]


def weights(model):
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def train(made, steps=4, reward=share_of_vowels, on_step=None, work_dir=None, **options):
    settings = PolicySettings(**{**{name: getattr(SMALL, name) for name in SMALL.__slots__}, "steps": steps, **options})
    train_policy(*made, ROWS, reward, settings=settings, seed=1, on_step=on_step, work_dir=work_dir)
    return weights(made[0])


def test_the_reward_rises(tiny):
    seen = []
    train(tiny(), steps=60, group=16, learning_rate=3e-3, divergence=0.0, on_step=seen.append)
    first, last = (sum(step.reward for step in part) / 10 for part in (seen[:10], seen[-10:]))
    assert last > first + 0.2
    assert seen[0].divergence == pytest.approx(0, abs=1e-5) and seen[-1].divergence > 0.01


def test_a_large_weight_keeps_the_model_near_the_first_one(tiny):
    found = {}
    for weight in (0.0, 5.0):
        seen = []
        train(tiny(), steps=30, learning_rate=3e-3, divergence=weight, on_step=seen.append)
        found[weight] = sum(step.divergence for step in seen[-5:])
    assert found[5.0] < found[0.0] / 2


def test_equal_rewards_change_nothing(tiny):
    made = tiny()
    before = weights(made[0])
    assert torch.equal(train(made, reward=lambda completions, **_: [0.5] * len(completions), divergence=0.0), before)


def test_missing_rewards_change_nothing(tiny):
    made, seen = tiny(), []
    before = weights(made[0])
    after = train(made, reward=lambda completions, **_: [None] * len(completions), on_step=seen.append, divergence=0.0)
    assert torch.equal(after, before) and math.isnan(seen[0].reward)


def test_the_reward_function_gets_what_trl_passes(tiny):
    calls = []

    def reward(prompts, completions, completion_ids, log_metric, question, **columns):
        calls.append((prompts, completions, completion_ids, question, columns))
        log_metric("length", 2.0)
        return [0.0] * len(prompts)

    seen = []
    train(tiny(), steps=1, reward=reward, on_step=seen.append)
    ((prompts, completions, ids, questions, rest),) = calls
    assert len(prompts) == len(completions) == len(ids) == len(questions) == 8 and rest == {}
    assert all(question in prompt for question, prompt in zip(questions, prompts, strict=True))
    assert prompts[:4] == [prompts[0]] * 4 and {*questions} == {*TEXTS}
    assert seen[0].metrics == {"length": 2.0} and list(seen[0].completions) == completions


def test_a_resumed_run_ends_with_the_same_weights(tiny, tmp_path):
    whole = train(tiny())
    train(tiny(), steps=2, work_dir=tmp_path / "work")
    seen = []
    resumed = train(tiny(), steps=4, work_dir=tmp_path / "work", on_step=seen.append)
    assert [step.step for step in seen] == [2, 3]
    assert torch.allclose(resumed, whole, atol=1e-6)


def test_a_run_can_be_resumed_with_smaller_passes_and_other_checkpoints(tiny, tmp_path):
    train(tiny(), steps=2, work_dir=tmp_path, rows_at_once=8)
    seen = []
    train(tiny(), steps=4, work_dir=tmp_path, rows_at_once=3, checkpoint_every=2, on_step=seen.append)
    assert [step.step for step in seen] == [2, 3]


def test_a_checkpoint_past_the_wanted_steps_is_refused_and_kept(tiny, tmp_path):
    train(tiny(), steps=4, work_dir=tmp_path)
    before, made = files_of(tmp_path), tiny()
    first = weights(made[0])
    with pytest.raises(GeneratorTrainingError, match="after 4 steps, which is past the 2 that are wanted"):
        train(made, steps=2, work_dir=tmp_path)
    assert files_of(tmp_path) == before and torch.equal(weights(made[0]), first)


def test_the_rows_are_shuffled_once_per_turn(monkeypatch):
    shuffled = []
    rows = [{"prompt": str(number)} for number in range(5)]
    settings = PolicySettings(prompts=8, group=2)
    expected = policy_training._rows_of(1, rows, settings, 7)  # the end of turn 1, turn 2, and one of turn 3
    key = policy_training.row_key
    monkeypatch.setattr(policy_training, "row_key", lambda *parts: shuffled.append(parts) or key(*parts))
    assert policy_training._rows_of(1, rows, settings, 7) == expected and len(expected) == 16
    assert shuffled == [(7, "order", turn) for turn in (1, 2, 3)]
    assert {row["prompt"] for row in expected[4:14]} == {"0", "1", "2", "3", "4"}


def files_of(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("change", ["rows", "model", "settings"])
def test_a_checkpoint_of_another_run_is_refused_and_kept(tiny, tmp_path, change):
    made, rows, options = tiny(), [dict(row) for row in ROWS], {}
    train(made, steps=2, work_dir=tmp_path)
    before = files_of(tmp_path)
    again = tiny()
    if change == "rows":
        rows[0]["question"] = "Another question?"  # the prompt is the same
    elif change == "model":
        again = made  # its weights are trained already
    else:
        options["temperature"] = 0.5
    settings = PolicySettings(**{**{name: getattr(SMALL, name) for name in SMALL.__slots__}, **options})
    with pytest.raises(GeneratorTrainingError, match=f"has a checkpoint of a run with other {change}: choose another"):
        train_policy(*again, rows, share_of_vowels, settings=settings, seed=1, work_dir=tmp_path)
    assert before and files_of(tmp_path) == before


def test_the_size_of_a_pass_does_not_matter(tiny):
    assert torch.allclose(train(tiny(), rows_at_once=3), train(tiny(), rows_at_once=8), atol=1e-4)


def test_an_interrupted_run_saves_a_checkpoint(tiny, tmp_path):
    import signal

    def reward(completions, **columns):
        signal.raise_signal(signal.SIGINT)
        return [0.0] * len(completions)

    with pytest.raises(KeyboardInterrupt):
        train(tiny(), reward=reward, work_dir=tmp_path / "work", checkpoint_every=100)
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["step-00000001"]


def test_a_copy_in_half_precision_keeps_the_precision_of_positions(tiny):
    model, tokenizer = tiny()
    copied = half_copy(model)
    assert {parameter.dtype for parameter in copied.parameters()} == {torch.bfloat16}
    assert all(torch.equal(one, other) for one, other in zip(model.buffers(), copied.buffers(), strict=True))
    assert copied.lm_head.weight is copied.model.embed_tokens.weight
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    ids = torch.tensor([tokenizer(TEXTS[0])["input_ids"]])
    with torch.no_grad():
        assert torch.allclose(model(ids).logits, copied(ids).logits.float(), atol=0.02)


def test_mistakes_are_one_clear_line(tiny):
    with pytest.raises(GeneratorTrainingError, match="returned 1 rewards for 8 completions"):
        train(tiny(), reward=lambda **_: [1.0])
    with pytest.raises(ParaqdError, match="there are no prompts"):
        train_policy(*tiny(), [], share_of_vowels)


@pytest.mark.parametrize("options", [{"group": 1}, {"steps": 0}, {"temperature": 0}, {"divergence": -1}])
def test_settings_that_make_no_sense_are_refused(options):
    with pytest.raises(ParaqdError):
        PolicySettings(**options)


def test_advantages_within_groups():
    assert advantages_of([1, 0, 5, 5], 2) == [1, -1, 0, 0]
    assert advantages_of([None, None], 2) == [0, 0]
