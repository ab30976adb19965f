"""The reward has TRL's signature, and TRL's trainer runs with it."""

from __future__ import annotations

import math

import pytest

from paraqd import ParaqdError, Scorer
from paraqd.integrations.trl import make_reward, reward, shares, text_of

QUESTION = "Tom has 5 pens and buys 3 more. How many pens does he have now?"
GOOD = "Tom buys 3 pens. Before that, he had 5 of them. What number of pens does he now own?"


@pytest.fixture(scope="module")
def scorer():
    return Scorer.load(judge="small")


def messages(text):
    return [{"role": "assistant", "content": text}]


def test_strings_and_messages_earn_the_same():
    texts = [GOOD, QUESTION, ""]
    plain = reward(prompts=["Rewrite."] * 3, completions=texts, completion_ids=[[1]] * 3, question=[QUESTION] * 3)
    talk = [[{"role": "user", "content": "Rewrite."}]] * 3
    spoken = reward(prompts=talk, completions=[messages(text) for text in texts], question=[QUESTION] * 3)
    assert plain == spoken
    assert plain[0] > 0.5 and plain[1:] == [-1.0, -1.0]


def test_the_question_comes_from_the_prompt_if_there_is_no_column(scorer):
    rewards = make_reward(scorer)(prompts=[QUESTION], completions=[GOOD])
    talk = [{"role": "system", "content": "Rewrite."}, {"role": "user", "content": QUESTION}]
    assert make_reward(scorer)(prompts=[talk], completions=[messages(GOOD)]) == rewards
    strip = make_reward(scorer, question_of=lambda text: text.removeprefix("Rewrite this: "))
    assert strip(prompts=[f"Rewrite this: {QUESTION}"], completions=[GOOD]) == rewards
    assert rewards[0] > 0.5


def test_a_column_with_another_name(scorer):
    asked = make_reward(scorer, question_column="source")
    assert asked(prompts=["Rewrite."], completions=[GOOD], source=[QUESTION])[0] > 0.5


def test_a_row_without_a_question_has_no_reward(scorer):
    logged = {}
    rewards = make_reward(scorer)(
        prompts=["a", "b", "c"],
        completions=[GOOD] * 3,
        question=[None, " ", QUESTION],
        log_extra=logged.__setitem__,
    )
    assert rewards[:2] == [None, None] and rewards[2] > 0.5
    assert logged["fault"] == ["no_question", "no_question", ""]
    assert make_reward(scorer)(prompts=[[]], completions=[messages(GOOD)]) == [None]


@pytest.mark.parametrize("question", [5, math.nan, ["Tom has 5 pens."], b"Tom"])
def test_a_question_that_is_no_text_has_no_reward(scorer, question):
    logged = {}
    rewards = make_reward(scorer)(
        prompts=["a"] * 2, completions=[GOOD] * 2, question=[question, QUESTION], log_extra=logged.__setitem__
    )
    assert rewards[0] is None and rewards[1] > 0.5
    assert logged["fault"] == ["no_question", ""]


def test_a_prompt_that_is_missing_has_no_reward(scorer):
    assert make_reward(scorer)(prompts=[None], completions=[GOOD]) == [None]


@pytest.mark.parametrize(
    "completion", [None, [], [{"role": "assistant", "content": None}], [{"role": "assistant", "content": []}]]
)
def test_a_missing_completion_is_empty(scorer, completion):
    logged = {}
    rewards = make_reward(scorer)(
        prompts=["a"], completions=[completion], question=[QUESTION], log_extra=logged.__setitem__
    )
    assert rewards == [-1.0] and logged == {"fault": ["empty"], "score": [None], "distance": [None]}


@pytest.mark.parametrize("content", [["Tom has", " 5"], [{"type": "text", "text": "Tom has"}, " 5"]])
def test_the_parts_of_a_message_may_be_strings(content):
    assert text_of([{"role": "assistant", "content": content}]) == "Tom has 5"
    assert text_of(["Tom has 5"]) == "Tom has 5"


@pytest.mark.parametrize(
    "columns",
    [
        {"question": [QUESTION]},
        {"question": [QUESTION] * 3},
        {"question": QUESTION},
        {"question": [QUESTION] * 2, "answer": ["8"]},
        {"question": [QUESTION] * 2, "answer": []},
        {"question": [QUESTION] * 2, "prompts": ["a"]},
    ],
)
def test_columns_of_another_length_are_refused(scorer, columns):
    with pytest.raises(ParaqdError, match=r"there are 2 completions, but (question|answer|prompts) has"):
        make_reward(scorer)(**{"prompts": ["a"] * 2, "completions": [GOOD] * 2, **columns})


def test_the_fault_and_the_shares_are_logged(scorer):
    extra, metrics = {}, {}
    make_reward(scorer)(
        prompts=["Rewrite."] * 4,
        completions=[GOOD, QUESTION, GOOD.replace("5", "6"), ""],
        question=[QUESTION] * 4,
        log_extra=extra.__setitem__,
        log_metric=metrics.__setitem__,
        trainer_state=None,
    )
    assert extra["fault"] == ["", "copied", "number_changed", "empty"]
    assert extra["score"][0] > 0.5 and extra["score"][1] is None
    assert metrics == {f"paraqd/{name}": 0.25 for name in ("accepted", "copied", "guarded", "invalid")}


def test_the_column_answer_guards_against_an_answer_that_is_given_away(scorer):
    text = "Tom buys 3 pens on top of his 5, which fills a box of eight. What number of pens does he own?"
    asked = make_reward(scorer)
    assert asked(prompts=["a"], completions=[text], question=[QUESTION], answer=["#### 8"]) == [-1.0]


def test_shares_of_nothing():
    assert shares([]) == {}


def test_only_the_assistant_speaks():
    talk = [{"role": "assistant", "content": "One."}, {"role": "tool", "content": "Two."}, *messages("Three.")]
    assert text_of(talk) == "One.\nThree."


def test_a_trainer_of_trl_runs_with_the_reward(tmp_path):
    trl = pytest.importorskip("trl")
    from datasets import Dataset
    from paraqd.lab.generators.tiny import tiny_causal
    from paraqd.lab.generators.training_loop import one_thread, seeded

    questions = [QUESTION, "A box holds 12 eggs. How many eggs do 4 boxes hold?"]
    with one_thread(), seeded(1, "cpu"):
        model, tokenizer = tiny_causal(questions)
        rows = [{"prompt": f"Rewrite: {question}\n", "question": question} for question in questions]
        arguments = trl.GRPOConfig(
            output_dir=str(tmp_path),
            max_steps=2,
            per_device_train_batch_size=4,
            num_generations=2,
            max_completion_length=12,
            logging_steps=1,
            report_to=[],
            use_cpu=True,
            bf16=False,
            save_strategy="no",
            disable_tqdm=True,
        )
        trainer = trl.GRPOTrainer(
            model, reward, args=arguments, train_dataset=Dataset.from_list(rows), processing_class=tokenizer
        )
        trainer.train()
    steps = [entry for entry in trainer.state.log_history if "reward" in entry]
    assert len(steps) == 2
    for entry in steps:
        assert -1 <= entry["rewards/reward/mean"] <= 1 and math.isfinite(entry["reward"])
        total = sum(entry[f"paraqd/{name}"] for name in ("accepted", "copied", "guarded", "invalid"))
        assert total == pytest.approx(1)
    assert len(trainer._logs["extra"]["fault"]) == len(trainer._logs["completion"])
