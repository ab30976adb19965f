"""The model card of a fused scorer, from what its training wrote down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_SETS = {
    "written": "rewrites of 4,200 questions by a language model, heavy and moderate, valid and with one fault (the "
    "part for training; validation and benchmark are kept out, with their twins)",
    "composed": "rule operators applied on top of those valid rewrites",
    "synthetic": "problems with valid and invalid paraphrases, written for this project by language models; other "
    "readers checked 4,100 of the paraphrases, and 6 of them had a wrong label (`datasets/synthetic`)",
    "synthetic_composed": "rule operators applied on top of their valid paraphrases",
    "rules": "rule operators applied to other questions of the corpus",
    "natural": "questions of the corpus with the same numbers and the same computed answer",
    "strangers": "questions beside other questions",
    "fluent": "fluent but wrong rewrites by the stand-in of f9, a fine-tuned SmolLM2-135M",
}


INTERVALS = ("macro_f1", "auc", "separation")


def _taught(teachers: Sequence[str], share: float) -> str:
    if not teachers:
        return ""
    return f" {share:.0%} of what it was trained towards is what teachers say of the same pairs: {', '.join(teachers)}."


def _figure(found: Mapping[str, Any], metric: str) -> str:
    """Return a figure with its interval where there is one."""
    low, high = found.get("intervals", {}).get(metric, (None, None))
    return f"{found[metric]:.3f}" if low is None else f"{found[metric]:.3f} ({low:.3f} to {high:.3f})"


def _begun(facts: Mapping[str, Any]) -> str:
    return f" It began as {facts['begun_with']}." if "begun_with" in facts else ""


def judge_card(facts: Mapping[str, Any]) -> str:
    """Return the card: what it is, what it was trained on, how, what it measured on validation, and its limits."""
    settings, fusion = facts["settings"], facts["fusion"]
    taught = _taught(facts.get("teachers", []), settings.get("teacher_share", 0.5))
    lines = [
        "---",
        "library_name: paraqd",
        "pipeline_tag: text-classification",
        "language: en",
        "license: apache-2.0",
        f"base_model: {facts['encoder']}",
        "tags: [paraqd, paraphrase, word-problems]",
        "---",
        f"# {facts['name']}",
        "",
        "Says whether a paraphrase of a word problem is still the same problem with the same answer: a score from -1 to"
        " 1, above 0.5 valid, with evidence. A cross-encoder (valid or not, the kind of fault, which words) whose"
        " log-odds are weighed together with what a symbolic reading finds. Trained with paraqd.",
        "",
        "## Trained on",
        "| set | pairs | what |",
        "| --- | --- | --- |",
        *(f"| {name} | {found['pairs']:,} | {_SETS.get(name, '')} |" for name, found in facts["data"].items()),
        "",
        "The paraphrase is shown to the model with its equal numbers written as the question writes them.",
        "",
        "## How",
        f"{settings['epochs']} epochs, learning rate {settings['learning_rate']:g}, {settings['batch_tokens']:,} tokens"
        f" a batch, seed {settings['seed']}; in the last {settings['rounded_share']:.0%} of the steps with weights"
        f" rounded to seven bits and the inputs of the layers, {settings.get('inner', 1536)} units wide inside, to"
        f" eight.{_begun(facts)}{taught} Then a logistic regression"
        " of the model's log-odds and the findings, in which no finding can help a paraphrase, and findings too rare in"
        f" validation pairs to be measured keep the weight that they are believed to have; the model weighs"
        f" {fusion['model_weight']:.2f}.",
        "",
        "## Validation",
        "Other questions than those trained on, without near twins of these; the fusion measured on folds that it was"
        " not fitted to; 95 % intervals, drawn over questions.",
        "",
        "| set | pairs | macro F1 | AUC | separation | Brier | ECE |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(
            f"| {name} | {found['pairs']:,} | {' | '.join(_figure(found, metric) for metric in INTERVALS)}"
            f" | {found['brier']:.3f} | {found['ece']:.3f} |"
            for name, found in facts["validation"].items()
        ),
        "",
        "## Limits",
        "English word problems. It judges the text, and does not solve the problem: a fault that only solving would"
        " show can pass. Texts longer than 320 tokens together are judged in windows. The kind of a fault is named with"
        " less certainty than its presence.",
        "",
    ]
    return "\n".join(lines)
