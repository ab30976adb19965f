"""Training with the reward turns a model that often copies and errs into one that paraphrases."""

from __future__ import annotations

import random

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from paraqd import Scorer  # noqa: E402
from paraqd.integrations.trl import make_reward  # noqa: E402
from paraqd.lab.generators.policy_training import PolicySettings, train_policy  # noqa: E402
from paraqd.lab.generators.tiny import tiny_causal  # noqa: E402
from paraqd.lab.generators.training_data import collate, encode_causal  # noqa: E402
from paraqd.lab.generators.training_loop import one_thread, seeded  # noqa: E402
from paraqd.paraphrasing.text_models.base import Prompt  # noqa: E402

PROMPT = Prompt("{text}\n")
QUESTION = "Tom has 5 pens and buys 3 more. How many pens does he have now?"
OUTPUTS = [
    QUESTION,
    "Before buying 3 pens, Tom owned 5. What number of pens does he own now?",
    "Before buying 3 pens, Tom owned 6. What number of pens does he own now?",
    "Before buying 3 pens, Tom owned 5. What number of pens does he own now? The answer is 8.",
]


def test_the_share_of_accepted_outputs_rises():
    with one_thread(), seeded(1, "cpu"):
        model, tokenizer = tiny_causal([QUESTION, *OUTPUTS])
        examples = list(encode_causal(tokenizer, PROMPT, [(QUESTION, output) for output in OUTPUTS]))
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        batch = collate(examples, tokenizer=tokenizer, rng=random.Random(1), device="cpu")
        for _ in range(150):  # until the model writes each of the four outputs
            model(**batch).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        seen = []
        train_policy(
            model,
            tokenizer,
            [{"prompt": PROMPT.fill(QUESTION), "question": QUESTION}],
            make_reward(Scorer.load(judge="small")),
            settings=PolicySettings(steps=25, prompts=2, group=16, learning_rate=5e-4, warmup=1, max_new_tokens=60),
            on_step=seen.append,
        )
    first, last = (
        {name: sum(step.metrics[f"paraqd/{name}"] for step in part) / 5 for name in ("accepted", "copied", "invalid")}
        for part in (seen[:5], seen[-5:])
    )
    assert last["accepted"] > max(0.8, first["accepted"] + 0.25)
    assert last["copied"] < 0.1 < first["copied"]
    assert last["invalid"] < 0.1
    assert sum(step.reward for step in seen[-5:]) > sum(step.reward for step in seen[:5])
