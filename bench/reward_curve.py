"""Train a paraphraser with the score as reward, and draw the curve.

    python bench/reward_curve.py train MODEL questions.csv results/reward --steps 300
    python bench/reward_curve.py plot results/reward

MODEL is a generator folder (`paraqd lab generator train`), a GGUF file, or `tiny` for a tiny model with random
weights. The training needs torch and transformers. Without onnxruntime, the small judge runs with torch. `plot` needs
matplotlib.

The questions are divided at random: some are only used for evaluation, the others for training. A run that was
interrupted goes on where it stopped if the same command is given again. A folder with a run of another model, other
questions or other settings is refused; only `--steps`, `--rows-at-once` and `--checkpoint-every` may change, and not
to fewer steps than are done. `--save` writes the trained model as a generator folder. OUT has these files:

- steps.csv: for each step the mean reward, the shares of outputs that are accepted and different, copied, caught by
  another guard and invalid, the divergence from the first model, the length and the time;
- held_out.csv: the same for the questions that are only used for evaluation, with greedy decoding;
- outputs.jsonl: the outputs for these questions, first and last, which `paraqd score` can judge again;
- run.json: the settings, and hashes of the questions and of the first model; and after `plot` curve.png and README.md.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import platform
import random
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from rewardlib.processes import ProcessScorer, load_scorer
from rewardlib.run_log import HELD_OUT, OUTPUTS, SETTINGS, STEPS, Table, plot_run, read_outputs, summary, write_outputs

from paraqd.errors import ArgumentError, ParaqdError
from paraqd.integrations.reward import RewardSettings, ScoresPairs, mean_distance, rate_outputs
from paraqd.integrations.trl import make_reward, shares
from paraqd.lab.generators.policy_training import (
    MAY_CHANGE,
    PolicySettings,
    PolicyStep,
    train_policy,
    weights_digest,
    write_completions,
)
from paraqd.lab.generators.tiny import tiny_causal
from paraqd.lab.generators.training_loop import check_steps, seeded
from paraqd.model_runtime import pick_device, quiet
from paraqd.paraphrasing.text_models.base import Prompt
from paraqd.paraphrasing.text_models.causal import encode_prompt, load_gguf
from paraqd.paraphrasing.text_models.loading import CARD, read_card
from paraqd.paraphrasing.text_models.styles import FAITHFUL, styled
from paraqd.tables.table import open_table

PROMPT = "Question: {text}\nParaphrase:\n"
CHECKPOINTS = "checkpoints"
_AT_ONCE = 64  # outputs that are written together for the evaluation


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, and return the exit code."""
    options = parser().parse_args(arguments)
    try:
        if options.command == "plot":
            return plot(options.out)
        return train(options)
    except (ParaqdError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; give the same command again to go on", file=sys.stderr)
        return 130


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = top.add_subparsers(dest="command", required=True)
    run = commands.add_parser("train", help="train a model with the reward")
    run.add_argument("model", help="a generator folder, a GGUF file, or tiny")
    run.add_argument("questions", type=Path, help="a table with a column question")
    run.add_argument("out", type=Path, help="the folder for the figures")
    defaults = PolicySettings()
    for name in ("steps", "prompts", "group", "warmup", "max_new_tokens", "rows_at_once", "checkpoint_every"):
        run.add_argument(f"--{name.replace('_', '-')}", type=int, default=getattr(defaults, name))
    for name in ("learning_rate", "divergence", "temperature"):
        run.add_argument(f"--{name.replace('_', '-')}", type=float, default=getattr(defaults, name))
    run.add_argument("--least-distance", type=float, default=RewardSettings().least_distance)
    run.add_argument("--full-distance", type=float, default=RewardSettings().full_distance)
    run.add_argument("--held-out", type=int, default=200, help="questions that are only used for evaluation")
    run.add_argument("--evaluate-every", type=int, default=50, help="steps between two evaluations")
    run.add_argument("--prompt", help=f"the template of the prompt (default: the folder's own, else {PROMPT!r})")
    run.add_argument("--workers", type=int, default=0, help="processes that score (default: this process)")
    run.add_argument("--device", help="cpu or cuda (default: cuda if there is one)")
    run.add_argument("--seed", type=int, default=3407)
    run.add_argument("--save", type=Path, help="a folder for the trained model (default: it is not saved)")
    figure = commands.add_parser("plot", help="draw the curve of a run, and write its README.md")
    figure.add_argument("out", type=Path)
    return top


def plot(out: Path) -> int:
    """Draw the curve of a finished run."""
    for name in (STEPS, HELD_OUT, SETTINGS):
        if not (out / name).is_file():
            raise ArgumentError(f"{out} has no {name}: run `python bench/reward_curve.py train` first")
    print(plot_run(out))
    (out / "README.md").write_text(summary(out), encoding="utf-8")
    return 0


def train(options: argparse.Namespace) -> int:
    """Train a model, and write the figures."""
    held_out, training = divide(read_questions(options.questions), options.held_out, options.seed)
    card = read_card(options.model)
    device = pick_device(options.device)
    model, tokenizer, prompt = load_model(options, card, [*held_out, *training])
    settings = PolicySettings(**{name: getattr(options, name) for name in PolicySettings.__slots__ if name in options})
    wanted = RewardSettings(least_distance=options.least_distance, full_distance=options.full_distance)
    options.out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        scorer: ScoresPairs = load_scorer()
        facts: dict[str, Any] = {
            "model": Path(options.model).name,
            "settings": asdict(settings),
            "reward": asdict(wanted),
            "prompt": asdict(prompt),
            "questions": len(training),
            "held_out": len(held_out),
            "questions_sha256": hashlib.sha256(json.dumps([held_out, training]).encode()).hexdigest(),
            "model_sha256": weights_digest(model),
            "seed": options.seed,
            "signature": getattr(scorer, "signature", ""),
            "device": device_name(device),
            "versions": versions(),
        }
        check_same_run(options.out / SETTINGS, facts)
        check_steps(options.out / CHECKPOINTS, settings.steps)
        (options.out / SETTINGS).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
        if options.workers:
            scorer = stack.enter_context(ProcessScorer(options.workers))
        steps, evaluations = Table(options.out / STEPS), Table(options.out / HELD_OUT)

        def evaluate(step: int) -> None:
            texts = greedy(
                model, tokenizer, prompt, [input_of(each, card) for each in held_out], settings.max_new_tokens, device
            )
            ratings = rate_outputs(list(zip(held_out, texts, strict=True)), scorer, settings=wanted)
            apart = mean_distance(ratings)
            mean = {
                "reward": sum(each.reward for each in ratings) / len(ratings),
                "distance": math.nan if apart is None else apart,
            }
            evaluations.add({"step": step, **mean, **shares(ratings)})
            found = [
                {"step": step, "question": question, "paraphrase": text, **asdict(rating)}
                for question, text, rating in zip(held_out, texts, ratings, strict=True)
            ]
            path = options.out / OUTPUTS
            write_outputs(path, [*(row for row in read_outputs(path) if row["step"] == 0 != step), *found])
            print(f"unseen questions after {step} steps: {evaluations.rows[-1]}", file=sys.stderr)

        def on_step(done: PolicyStep) -> None:
            own = {name.removeprefix("paraqd/"): share for name, share in done.metrics.items()}
            row = {"step": done.step + 1, "reward": done.reward, **own, "deviation": done.deviation}
            row |= {"divergence": done.divergence, "length": done.length, "seconds": done.seconds}
            steps.add(row)
            if (done.step + 1) % options.evaluate_every == 0 or done.step + 1 == settings.steps:
                evaluate(done.step + 1)

        if not evaluations.rows:
            evaluate(0)
        train_policy(
            model,
            tokenizer,
            [{"prompt": prompt.fill(input_of(question, card)), "question": question} for question in training],
            make_reward(scorer, least_distance=wanted.least_distance, full_distance=wanted.full_distance),
            settings=settings,
            answer=prompt.answer,
            seed=options.seed,
            device=device,
            work_dir=options.out / CHECKPOINTS,
            on_step=on_step,
            progress=lambda stage, done, total, note="": print(f"{stage}: {done}/{total} {note}", file=sys.stderr),
        )
    if options.save is not None:
        with quiet():
            model.save_pretrained(options.save)
            tokenizer.save_pretrained(options.save)
        saved = saved_card(card, prompt, facts)
        (options.save / CARD).write_text(json.dumps(saved, indent=2) + "\n", encoding="utf-8")
    print(f"{settings.steps} steps → {options.out}; draw them with: python bench/reward_curve.py plot {options.out}")
    return 0


def check_same_run(path: Path, facts: dict[str, Any]) -> None:
    """Raise `ArgumentError` if a folder has a run with other settings than those in `MAY_CHANGE`."""
    if not path.is_file():
        return
    before = json.loads(path.read_text(encoding="utf-8"))
    for given in (before, now := json.loads(json.dumps(facts))):
        given["versions"] = given["device"] = None
        given["settings"] |= dict.fromkeys(MAY_CHANGE)
    changed = [name for name in now if before.get(name) != now[name]]
    if changed:
        what = changed[0].removesuffix("_sha256")
        raise ArgumentError(f"{path.parent} has a run with other {what}: choose another folder, or delete it")


def read_questions(path: Path) -> list[str]:
    """Return the distinct questions of a table, in their order."""
    found = [str(row.get("question") or "").strip() for row in open_table(path).rows()]
    return [question for question in dict.fromkeys(found) if question]


def divide(questions: Sequence[str], held_out: int, seed: int) -> tuple[list[str], list[str]]:
    """Divide questions at random into those for evaluation and those for training."""
    if not 0 < held_out < len(questions):
        raise ArgumentError(
            f"{held_out} of {len(questions)} questions cannot be held out: set --held-out to a number from 1 to "
            f"{len(questions) - 1}"
        )
    order = list(questions)
    random.Random(seed).shuffle(order)
    return order[:held_out], order[held_out:]


def input_of(question: str, card: Mapping[str, Any]) -> str:
    """Return the text that goes into the prompt. A paraphrasing generator expects a style before the question."""
    return styled(question, FAITHFUL[0]) if card.get("kind") == "paraphrase" else question


def saved_card(card: Mapping[str, Any], prompt: Prompt, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the card of the trained model: that of the first model, with the prompt and the facts of the run."""
    first = {
        "kind": "reward",
        "base": facts["model"],
        "stand_in": facts["model"] == "tiny",
        "data_sha256": facts["questions_sha256"],
        "backend": "causal",
        "by_sentence": False,
    }
    # another name than the first model's, because the outputs differ
    base = {"base": f"{card['base']}+reward"} if "base" in card else {}
    return {**first, **card, **base, "prompt": asdict(prompt), "reward_run": dict(facts)}


def load_model(options: argparse.Namespace, card: Mapping[str, Any], texts: Sequence[str]) -> tuple[Any, Any, Prompt]:
    """Return the model, its tokenizer and its prompt."""
    prompt = Prompt(card["prompt"]["template"], card["prompt"]["end"]) if "prompt" in card else Prompt(PROMPT)
    if options.prompt is not None:
        prompt = Prompt(options.prompt)
    if options.model == "tiny":
        with seeded(options.seed, "cpu"):
            model, tokenizer = tiny_causal(texts)
    elif options.model.endswith(".gguf"):
        model, tokenizer = load_gguf(Path(options.model))
    else:
        model, tokenizer = load_folder(Path(options.model))
    return model.to(pick_device(options.device)), tokenizer, prompt


def load_folder(folder: Path) -> tuple[Any, Any]:
    """Load a causal model from a folder. Its weights are trained in float32."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    if not (folder / "config.json").is_file():
        raise ArgumentError(f"{folder} has no config.json: pass a generator folder, a GGUF file, or tiny")
    with quiet():
        tokenizer = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
        model = AutoModelForCausalLM.from_pretrained(str(folder), dtype=torch.float32, local_files_only=True)
    return model, tokenizer


def greedy(
    model: Any, tokenizer: Any, prompt: Prompt, questions: Sequence[str], max_new_tokens: int, device: str
) -> list[str]:
    """Return the most probable paraphrase of each question, which is given as `input_of` returns it."""
    texts: list[str] = []
    for start in range(0, len(questions), _AT_ONCE):
        prompts = [encode_prompt(tokenizer, prompt.fill(each)) for each in questions[start : start + _AT_ONCE]]
        written = write_completions(model, tokenizer, prompts, max_new_tokens=max_new_tokens, device=device)
        texts += [prompt.answer(text) for text in tokenizer.batch_decode(written, skip_special_tokens=True)]
    return texts


def device_name(device: str) -> str:
    """Return the name of the GPU, or of the processor."""
    import torch

    return str(torch.cuda.get_device_name()) if device.startswith("cuda") else platform.machine()


def versions() -> dict[str, str]:
    """Return the versions of the libraries that affect a run."""
    import torch
    import transformers

    return {"torch": torch.__version__, "transformers": transformers.__version__}


if __name__ == "__main__":
    sys.exit(main())
