"""Train a causal model with a reward: group relative policy optimisation (GRPO; Shao et al., 2024).

In each step, the model writes a group of completions for each of a few prompts. A completion whose reward is above the
mean of its group becomes more likely, one below it less likely. A penalty for the divergence from the first model keeps
the language fluent. Each batch of completions is used for one update, so there is nothing to clip.

The reward function has the signature of TRL's reward functions, so that the same function works in both places.
"""

from __future__ import annotations

import copy
import hashlib
import json
import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from paraqd.errors import ArgumentError
from paraqd.interrupts import deferred_interrupt
from paraqd.lab.generators.training_loop import (
    GeneratorTrainingError,
    check_checkpoints,
    check_steps,
    load_checkpoint,
    save_checkpoint,
    seeded,
)
from paraqd.model_runtime import quiet, without_cudnn_attention
from paraqd.paraphrasing.text_models.causal import encode_prompt
from paraqd.paraphrasing.text_models.engine import pad
from paraqd.paraphrasing.text_models.processors import row_key
from paraqd.progress import Progress, silent

Row = Mapping[str, Any]  # a row with the column ``prompt`` and the columns that the reward function asks for
RewardFunction = Callable[..., Sequence[float | None]]
_LEAST_DEVIATION = 1e-4  # of the rewards in a group
MAY_CHANGE = ("steps", "rows_at_once", "checkpoint_every")  # settings on which the figures of a step do not depend


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySettings:
    """The settings for training with a reward.

    Attributes
    ----------
    steps : int
        The number of updates.
    prompts : int
        The number of prompts in each step.
    group : int
        The number of completions for each prompt.
    learning_rate : float
        The learning rate after the warm-up.
    warmup : int
        The number of steps in which the learning rate rises.
    divergence : float
        The weight of the divergence from the first model.
    temperature : float
        The temperature of sampling.
    max_new_tokens : int
        The maximum length of a completion.
    rows_at_once : int
        The number of completions whose gradients are computed together. It affects memory and speed alone.

    """

    steps: int = 200
    prompts: int = 16
    group: int = 8
    learning_rate: float = 1e-5
    warmup: int = 10
    divergence: float = 0.04
    temperature: float = 1.0
    max_new_tokens: int = 160
    rows_at_once: int = 32
    weight_decay: float = 0.0
    clip: float = 1.0
    checkpoint_every: int = 50

    def __post_init__(self) -> None:
        if self.group < 2:
            raise ArgumentError(f"group is {self.group}: rewards are compared within a group, so it must be 2 or more")
        if min(self.steps, self.prompts, self.max_new_tokens, self.rows_at_once, self.checkpoint_every) < 1:
            raise ArgumentError("steps, prompts, max_new_tokens, rows_at_once and checkpoint_every must be at least 1")
        if self.temperature <= 0 or self.learning_rate <= 0 or self.divergence < 0:
            raise ArgumentError("temperature and learning_rate must be above 0, and divergence must not be below 0")


@dataclass(frozen=True, slots=True)
class PolicyStep:
    """The figures of one step, measured before its update.

    ``divergence`` is the mean per token, ``length`` the mean number of tokens, and ``metrics`` has what the reward
    function logged.
    """

    step: int
    reward: float
    deviation: float
    divergence: float
    length: float
    seconds: float
    metrics: Mapping[str, float]
    completions: Sequence[str]
    rewards: Sequence[float | None]
    rows: Sequence[Row]


def train_policy(
    model: Any,
    tokenizer: Any,
    rows: Sequence[Row],
    reward: RewardFunction,
    *,
    settings: PolicySettings | None = None,
    answer: Callable[[str], str] = str.strip,
    seed: int = 3407,
    device: str = "cpu",
    work_dir: Path | None = None,
    on_step: Callable[[PolicyStep], None] | None = None,
    progress: Progress = silent,
) -> None:
    """Train a causal model in place.

    Parameters
    ----------
    rows : sequence of mappings
        The data set. Each row has a ``prompt``; its other columns are passed to the reward function.
    reward : callable
        A reward function with TRL's signature. It may return None for a completion that cannot be rewarded.
    answer : callable
        A function that takes the decoded completion and returns the text that is rewarded.
    work_dir : Path, optional
        The folder for checkpoints. An interrupted training run resumes from its last checkpoint. If the folder has a
        checkpoint of a run with another model, other rows or other settings, or one past ``steps``,
        `GeneratorTrainingError` is raised. The settings in `MAY_CHANGE` may be others.
    on_step : callable, optional
        A function that gets the figures of each step.

    """
    import torch

    settings = settings or PolicySettings()
    if not rows:
        raise ArgumentError("there are no prompts to train with: pass at least one row")
    make_paddable(model, tokenizer)
    model.to(device)
    with seeded(seed, device), without_cudnn_attention(), deferred_interrupt() as interrupt:
        first_model = copy.deepcopy(model).eval().requires_grad_(False)
        # on a GPU, a copy in half precision writes faster
        writer = half_copy(model) if device.startswith("cuda") else model
        optimizer = torch.optim.AdamW(model.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay)
        fingerprint = {
            "settings": {name: value for name, value in asdict(settings).items() if name not in MAY_CHANGE},
            "seed": seed,
            "rows": _digest(rows),
            "model": weights_digest(model),
        }
        start = 0
        if work_dir is not None:
            check_checkpoints(work_dir, fingerprint)
            check_steps(work_dir, settings.steps)
            start = load_checkpoint(model, optimizer, work_dir, fingerprint, device)[0]
        for step in range(start, settings.steps):
            torch.manual_seed(row_key(seed, "policy", step))
            begun = time.monotonic()
            chosen = _rows_of(step, rows, settings, seed)
            prompts = [encode_prompt(tokenizer, row["prompt"]) for row in chosen]
            _copy_weights(model, writer)
            completions = write_completions(
                writer,
                tokenizer,
                prompts,
                max_new_tokens=settings.max_new_tokens,
                temperature=settings.temperature,
                device=device,
            )
            texts = [answer(text) for text in tokenizer.batch_decode(completions, skip_special_tokens=True)]
            metrics: dict[str, float] = {}
            rewards = _rewards(reward, chosen, texts, completions, metrics)
            for group in optimizer.param_groups:
                group["lr"] = settings.learning_rate * min(1.0, (step + 1) / max(1, settings.warmup))
            advantages = advantages_of(rewards, settings.group)
            divergence = _update(model, first_model, optimizer, prompts, completions, advantages, settings, device)
            known = [value for value in rewards if value is not None]
            mean = sum(known) / len(known) if known else math.nan
            if on_step is not None:
                spread = math.sqrt(sum((value - mean) ** 2 for value in known) / len(known)) if known else math.nan
                length = sum(map(len, completions)) / len(completions)
                seconds = time.monotonic() - begun
                on_step(
                    PolicyStep(step, mean, spread, divergence, length, seconds, metrics, texts, rewards, tuple(chosen))
                )
            progress("training with a reward", step + 1, settings.steps, f"reward {mean:.3f}")
            due = (step + 1) % settings.checkpoint_every == 0 or step + 1 == settings.steps or interrupt.requested
            if work_dir is not None and due:
                save_checkpoint(model, optimizer, work_dir, {"step": step + 1, "loss": mean, "of": fingerprint})
            if interrupt.requested:
                raise KeyboardInterrupt
    model.eval()


def advantages_of(rewards: Sequence[float | None], group: int) -> list[float]:
    """Return how many standard deviations each reward is above the mean of its group.

    A missing reward has the advantage 0, and so have all rewards of a group in which they are equal.

    >>> advantages_of([1.0, -1.0, None, 0.5, 0.5, 0.5], 3)
    [1.0, -1.0, 0.0, 0.0, 0.0, 0.0]
    """
    found: list[float] = []
    for start in range(0, len(rewards), group):
        mine = rewards[start : start + group]
        known = [value for value in mine if value is not None]
        mean = sum(known) / len(known) if known else 0.0
        deviation = math.sqrt(sum((value - mean) ** 2 for value in known) / len(known)) if known else 0.0
        scale = 1 / deviation if deviation > _LEAST_DEVIATION else 0.0
        found += [0.0 if value is None else (value - mean) * scale for value in mine]
    return found


def make_paddable(model: Any, tokenizer: Any) -> None:
    """Give a model and its tokenizer the same end token, and a token for padding."""
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.generation_config.eos_token_id = tokenizer.eos_token_id


def half_copy(model: Any) -> Any:
    """Return a copy of a model with weights in bfloat16. Its buffers stay exact, because positions depend on them."""
    import torch

    made = copy.deepcopy(model).eval().requires_grad_(False)
    for parameter in made.parameters():
        parameter.data = parameter.data.to(torch.bfloat16)
    return made


def _copy_weights(model: Any, writer: Any) -> None:
    import torch

    if writer is not model:
        with torch.no_grad():
            for mine, theirs in zip(model.parameters(), writer.parameters(), strict=True):
                theirs.copy_(mine)


def weights_digest(model: Any) -> str:
    """Return a hash of a model's weights."""
    import torch

    found = hashlib.sha256()
    for name, value in sorted(model.state_dict().items()):
        found.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        found.update(value.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy())
    return found.hexdigest()


def _digest(rows: Sequence[Row]) -> str:
    """Return a hash of all columns of the rows."""
    text = json.dumps([dict(row) for row in rows], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _rows_of(step: int, rows: Sequence[Row], settings: PolicySettings, seed: int) -> list[Row]:
    """Return the rows of a step, each as often as the group is large. Every row has its turn before one recurs."""
    chosen = []
    orders: dict[int, list[int]] = {}
    for place in range(step * settings.prompts, (step + 1) * settings.prompts):
        turn, number = divmod(place, len(rows))
        if turn not in orders:
            orders[turn] = list(range(len(rows)))
            random.Random(row_key(seed, "order", turn)).shuffle(orders[turn])
        chosen += [rows[orders[turn][number]]] * settings.group
    return chosen


def write_completions(
    model: Any,
    tokenizer: Any,
    prompts: Sequence[list[int]],
    *,
    max_new_tokens: int,
    temperature: float | None = None,
    device: str = "cpu",
) -> list[list[int]]:
    """Return the tokens of a completion for each prompt. A finished completion ends with the end token.

    Without a temperature, the most probable token is chosen at each place.
    """
    import torch

    make_paddable(model, tokenizer)
    ids, mask = pad(prompts, value=tokenizer.pad_token_id, left=True, device=device)
    sampling: dict[str, Any] = {"do_sample": False}
    if temperature is not None:
        sampling = {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0}
    model.eval()
    with torch.no_grad(), _half(device), quiet():
        written = model.generate(
            input_ids=ids, attention_mask=mask, max_new_tokens=max_new_tokens, use_cache=True, **sampling
        )[:, ids.shape[1] :].tolist()
    end = tokenizer.eos_token_id
    return [row[: row.index(end) + 1] if end in row else row for row in written]


def _rewards(
    reward: RewardFunction,
    chosen: Sequence[Row],
    texts: list[str],
    completions: list[list[int]],
    metrics: dict[str, float],
) -> list[float | None]:
    columns = {name: [row[name] for row in chosen] for name in chosen[0] if name != "prompt"}
    found = list(
        reward(
            prompts=[row["prompt"] for row in chosen],
            completions=texts,
            completion_ids=completions,
            log_metric=metrics.__setitem__,
            **columns,
        )
    )
    if len(found) != len(texts):
        raise GeneratorTrainingError(f"the reward function returned {len(found)} rewards for {len(texts)} completions")
    return [None if value is None or math.isnan(value) else float(value) for value in found]


def _update(
    model: Any,
    first_model: Any,
    optimizer: Any,
    prompts: Sequence[list[int]],
    completions: Sequence[list[int]],
    advantages: Sequence[float],
    settings: PolicySettings,
    device: str,
) -> float:
    """Make one update, and return the mean divergence per token from the first model."""
    import torch

    model.eval()  # dropout would make the model differ from the one that wrote the completions
    tokens = sum(map(len, completions))
    total = 0.0
    for start in range(0, len(completions), settings.rows_at_once):
        part = slice(start, start + settings.rows_at_once)
        batch = prompts[part], completions[part]
        now, mask = _log_probabilities(model, *batch, settings.temperature, device)
        with torch.no_grad():
            before, _ = _log_probabilities(first_model, *batch, settings.temperature, device)
        weight = torch.tensor(advantages[part], device=device)[:, None]
        # an unbiased estimate of the divergence that is never below 0 (Schulman, 2020)
        apart = torch.exp(before - now) - (before - now) - 1
        # the ratio is 1, but its gradient is that of the log-probability
        gain = torch.exp(now - now.detach()) * weight
        loss = ((settings.divergence * apart - gain) * mask).sum() / tokens
        if not torch.isfinite(loss):
            raise GeneratorTrainingError("training diverged: the loss is not finite; lower the learning rate")
        loss.backward()
        total += float((apart.detach() * mask).sum())
    torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return total / tokens


def _log_probabilities(
    model: Any, prompts: Sequence[list[int]], completions: Sequence[list[int]], temperature: float, device: str
) -> tuple[Any, Any]:
    """Return the log-probabilities of the completions' tokens, and a mask of the places that hold a token."""
    rows = [[*prompt, *completion] for prompt, completion in zip(prompts, completions, strict=True)]
    ids, mask = pad(rows, value=0, left=False, device=device)
    with _half(device):
        logits = model(input_ids=ids, attention_mask=mask, use_cache=False).logits
    logits = logits[:, :-1].float() / temperature
    chosen = logits.gather(-1, ids[:, 1:, None]).squeeze(-1) - logits.logsumexp(-1)
    counted = mask[:, 1:].clone()
    for place, prompt in enumerate(prompts):
        counted[place, : len(prompt) - 1] = 0
    return chosen * counted, counted.to(chosen.dtype)


def _half(device: str) -> Any:
    import torch

    return torch.autocast("cuda", dtype=torch.bfloat16, enabled=device.startswith("cuda"))
