"""Reward a paraphraser in TRL's trainers, such as ``GRPOTrainer``.

::

    from paraqd.integrations.trl import reward
    from trl import GRPOConfig, GRPOTrainer

    trainer = GRPOTrainer("HuggingFaceTB/SmolLM2-135M-Instruct", reward, args=GRPOConfig(), train_dataset=questions)
    trainer.train()

The data set needs the column ``prompt`` that TRL asks for, and a column ``question`` with the question that the prompt
contains. `make_reward` has options for other data sets. This module does not import TRL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Protocol

from paraqd.errors import ArgumentError
from paraqd.integrations.reward import Rating, RewardSettings, ScoresPairs, rate_outputs
from paraqd.integrations.reward_guards import COPIED, GUARDS
from paraqd.text_check import is_blank

Messages = Sequence[Mapping[str, Any]]
Text = str | Messages  # TRL passes strings, or conversations as lists of messages
NO_QUESTION = "no_question"


class RewardFunction(Protocol):
    """The signature of TRL's reward functions."""

    def __call__(
        self, prompts: Sequence[Text], completions: Sequence[Text], completion_ids: Any = None, **columns: Any
    ) -> list[float | None]:
        """Return a reward for each completion, or None if it cannot be rewarded."""
        ...


def make_reward(
    scorer: ScoresPairs | None = None,
    *,
    question_column: str = "question",
    answer_column: str = "answer",
    question_of: Callable[[str], str] | None = None,
    least_distance: float = 0.2,
    full_distance: float = 0.4,
) -> RewardFunction:
    """Return a reward function with options.

    Parameters
    ----------
    scorer : Scorer, optional
        The scorer (default: the shipped model, which is loaded at the first reward).
    question_column, answer_column : str
        The columns of the data set with the questions, and with their answers. A missing column is ignored.
    question_of : callable, optional
        A function that takes the text of a prompt and returns the question in it, for a data set without a column of
        questions. For a conversation, it gets the last message of the user. By default, this text is the question.
    least_distance, full_distance : float
        See `reward.RewardSettings`.

    Examples
    --------
    >>> reward = make_reward(question_of=lambda prompt: prompt.removeprefix("Rewrite: "))
    >>> question = "Tom has 5 pens and buys 3 more. How many pens does he have now?"
    >>> reward(prompts=[f"Rewrite: {question}"], completions=[[{"role": "assistant", "content": question}]])
    [-1.0]

    """
    settings = RewardSettings(least_distance=least_distance, full_distance=full_distance)

    def paraqd_reward(
        prompts: Sequence[Text],
        completions: Sequence[Text],
        completion_ids: Any = None,
        log_extra: Callable[[str, list[Any]], None] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """Return a reward for each completion."""
        del completion_ids
        questions, answers = columns.get(question_column), columns.get(answer_column)
        _check_lengths(completions, {"prompts": prompts, question_column: questions, answer_column: answers})
        if questions is None:
            questions = [_question_in(prompt, question_of) for prompt in prompts]
        ratings: list[Rating | None] = [None] * len(completions)
        known = [place for place, question in enumerate(questions) if _is_text(question)]
        rated = rate_outputs(
            [(questions[place], text_of(completions[place])) for place in known],
            scorer or _default_scorer(),
            answers=None if answers is None else [answers[place] for place in known],
            settings=settings,
        )
        for place, rating in zip(known, rated, strict=True):
            ratings[place] = rating
        _log(ratings, log_extra, log_metric)
        return [None if rating is None else rating.reward for rating in ratings]

    return paraqd_reward


def reward(
    prompts: Sequence[Text], completions: Sequence[Text], completion_ids: Any = None, **columns: Any
) -> list[float | None]:
    """Reward paraphrases with the shipped model and the default options of `make_reward`.

    >>> question = "Tom has 5 pens and buys 3 more. How many pens does he have now?"
    >>> reward(prompts=["Rewrite the question."], completions=[question], question=[question])
    [-1.0]
    """
    return _default_reward()(prompts=prompts, completions=completions, completion_ids=completion_ids, **columns)


def text_of(text: Text | None) -> str:
    """Return the text of a completion: the string itself, or the contents of its messages by the assistant.

    A missing completion is an empty text.

    >>> text_of([{"role": "assistant", "content": [{"type": "text", "text": "Tom has"}]}])
    'Tom has'
    """
    if text is None or isinstance(text, str):
        return text or ""
    return "\n".join(_content(message) for message in text if _role(message) in (None, "assistant"))


def _check_lengths(completions: Sequence[Text], columns: Mapping[str, Any]) -> None:
    for name, values in columns.items():
        if values is not None and (isinstance(values, str) or len(values) != len(completions)):
            size = "one text" if isinstance(values, str) else str(len(values))
            raise ArgumentError(
                f"there are {len(completions)} completions, but {name} has {size}: pass a list with one value for each "
                "completion"
            )


def _question_in(prompt: Text | None, question_of: Callable[[str], str] | None) -> str:
    """Return the question in a prompt, or an empty string if a conversation has no message by a user."""
    if not isinstance(prompt, str):
        prompt = next((_content(message) for message in reversed(prompt or ()) if _role(message) == "user"), "")
    return question_of(prompt) if question_of and prompt else prompt


def _role(message: Mapping[str, Any] | str) -> Any:
    return None if isinstance(message, str) else message.get("role")


def _content(message: Mapping[str, Any] | str) -> str:
    content = message if isinstance(message, str) else message.get("content") or ""
    if isinstance(content, str):
        return content
    # text in several parts
    return "".join(part if isinstance(part, str) else str(part.get("text") or "") for part in content)


def _is_text(question: object) -> bool:
    return isinstance(question, str) and not is_blank(question)


def _log(
    ratings: Sequence[Rating | None],
    log_extra: Callable[[str, list[Any]], None] | None,
    log_metric: Callable[[str, float], None] | None,
) -> None:
    """Log the fault, the score and the distance of each completion, and the shares of the batch."""
    if log_extra is not None:
        log_extra("fault", [NO_QUESTION if rating is None else rating.fault for rating in ratings])
        log_extra("score", [None if rating is None else rating.score for rating in ratings])
        apart = [None if rating is None else rating.distance for rating in ratings]
        log_extra("distance", [None if each is None else round(each, 3) for each in apart])
    if log_metric is not None:
        for name, share in shares([rating for rating in ratings if rating is not None]).items():
            log_metric(f"paraqd/{name}", share)


def shares(ratings: Sequence[Rating]) -> dict[str, float]:
    """Return the shares of outputs that are accepted, copied, caught by another guard, and invalid. They add up to 1.

    >>> shares([Rating(1.0, "", 0.5, 0.9), Rating(-1.0, "copied", 0.1)])
    {'accepted': 0.5, 'copied': 0.5, 'guarded': 0.0, 'invalid': 0.0}
    """
    if not ratings:
        return {}
    total = len(ratings)
    accepted = sum(rating.accepted for rating in ratings)
    copied = sum(rating.fault == COPIED for rating in ratings)
    guarded = sum(rating.fault in GUARDS for rating in ratings) - copied
    return {
        "accepted": accepted / total,
        "copied": copied / total,
        "guarded": guarded / total,
        "invalid": (total - accepted - copied - guarded) / total,
    }


@cache
def _default_scorer() -> ScoresPairs:
    from paraqd.scoring.scorer import Scorer

    return Scorer.load()


@cache
def _default_reward() -> RewardFunction:
    return make_reward()
