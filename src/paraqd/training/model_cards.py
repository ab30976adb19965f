"""Write the model cards of trained models from the facts of their trainings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paraqd.training.fusion_fitting import METRICS

_SETS = {
    "written": "A language model rewrote 4,200 questions heavily and moderately, each time validly and with one fault. "
    "This is the training part; validation, benchmark and their near twins are not in it.",
    "composed": "Operators applied to the valid rewrites.",
    "rules": "Operators applied to other questions.",
    "synthetic": "Problems with valid and invalid paraphrases, written for this project by language models "
    "(`datasets/synthetic`). Other readers checked 4,100 paraphrases, and 6 had a wrong label.",
    "synthetic_composed": "Operators applied to the valid paraphrases of the synthetic problems.",
    "strangers": "Pairs of different questions.",
    "natural": "Pairs of questions with the same numbers and the same computed answer.",
    "fluent": "Fluent rewrites with a lost or changed number or unit, by a small language model trained for the "
    "operator f9.",
}


def judge_card(facts: Mapping[str, Any]) -> str:
    """Return the card of a scorer with a learned judge."""
    lines = [
        *_front_matter(facts, library="paraqd", task="text-classification"),
        "This model says if a paraphrase of a math word problem is still the same problem with the same answer. It"
        " gives a score from -1 to 1 and evidence; a score above 0.5 means valid. A cross-encoder reads both texts and"
        " gives log-odds for valid or invalid, the kind of fault and the words at fault. A logistic regression, the"
        " fusion, combines them with the findings of rules. Trained with paraqd.",
        "",
        "## Training data",
        "| set | pairs | content |",
        "| --- | ---: | --- |",
        *(f"| {name} | {found['pairs']:,} | {_SETS.get(name, '')} |" for name, found in facts["data"].items()),
        "",
        "Before the model reads a pair, quantities of the paraphrase that equal one of the question are written as in"
        " the question.",
        "",
        "## Training",
        f"Recipe `{facts['recipe']}`.",
        "",
        *_stages(facts),
        *_teachers(facts),
        "- Fusion: no finding can raise a score. Findings that are too rare in the validation pairs to be measured keep"
        f" their prior weight. The weight of the model's log-odds is {facts['fusion']['model_weight']:.2f}.",
        "",
        "## Validation",
        "The validation questions and their near twins are not in the training data. The fusion is measured on folds"
        " that it was not fitted to. The 95 % intervals are drawn over questions.",
        "",
        "| set | pairs | macro F1 | AUC | separation | Brier | ECE |",
        "| --- | ---: | --- | --- | --- | --- | --- |",
        *(
            f"| {name} | {found['pairs']:,} | {' | '.join(_figure(found, metric) for metric in METRICS)}"
            f" | {found['brier']:.3f} | {found['ece']:.3f} |"
            for name, found in facts["validation"].items()
        ),
        "",
        "## Limits",
        "English word problems only. The model compares the texts and does not solve the problem: a fault that only the"
        " solution would show can pass. Pairs of more than 320 tokens are read in windows. The kind of a fault is less"
        " reliable than its presence.",
        "",
    ]
    return "\n".join(lines)


def bi_encoder_card(facts: Mapping[str, Any]) -> str:
    """Return the card of a bi-encoder."""
    settings, data, found = facts["settings"], facts["data"], facts.get("validation")
    lines = [
        *_front_matter(facts, library="sentence-transformers", task="sentence-similarity"),
        "A bi-encoder that scores if a paraphrase of a math word problem is still the same problem. The score is the"
        " cosine of the two embeddings, from -1 to 1; above 0.5 means valid. Trained with"
        " [paraqd](https://pypi.org/project/paraqd/) by the method of ParaQD (ECML-PKDD 2022).",
        "",
        "```python",
        "from sentence_transformers import SentenceTransformer",
        f'model = SentenceTransformer("{facts["name"]}")',
        "```",
        "",
        "## Training",
        f"- Encoder: {facts['encoder']}" + (f", the first {facts['layers']} layers" if facts.get("layers") else ""),
        f"- Recipe: {facts['recipe']}; {data['triplets']:,} triplets of {data['questions']:,} questions"
        f" (sha256 {data['sha256'][:16]}…)",
        f"- Settings: {', '.join(f'{key} {value}' for key, value in settings.items())}",
    ]
    if facts.get("processes", 1) > 1:
        lines.append(f"- Trained in {facts['processes']} processes, which shared every batch")
    if facts.get("stand_ins"):
        lines.append(f"- Stand-ins for models that were not available: {', '.join(facts['stand_ins'])}")
    if facts.get("left_out"):
        lines.append(f"- Operators left out because their model was not available: {', '.join(facts['left_out'])}")
    if found:
        overlap = facts.get("validation_overlap") or 0
        note = f" ({overlap:,} of the questions were also trained on)" if overlap else " of other questions"
        lines += [
            "",
            "## Validation",
            f"{found['triplets']:,} triplets{note}: accuracy {found['accuracy']:.3f},"
            f" separation {found['separation']:.3f} (valid {found['mu_pos']:.3f}, invalid {found['mu_neg']:.3f}).",
        ]
    lines += [
        "",
        "## Limits",
        "One vector cannot represent every number of a text: changed numbers often go unnoticed. The model was trained"
        " on pairs made by rules, and it rejects heavy but correct rewording more often than a person would.",
        "",
    ]
    return "\n".join(lines)


def _front_matter(facts: Mapping[str, Any], *, library: str, task: str) -> list[str]:
    return [
        "---",
        f"library_name: {library}",
        f"pipeline_tag: {task}",
        "language: en",
        "license: apache-2.0",
        f"base_model: {facts['encoder']}",
        "tags: [paraqd, paraphrase, word-problems]",
        "---",
        f"# {facts['name']}",
        "",
    ]


def _stages(facts: Mapping[str, Any]) -> list[str]:
    """Describe each stage of a judge's training in a line."""
    lines = []
    for number, stage in enumerate(facts["stages"], start=1):
        first = facts.get("start") or f"the encoder {facts['encoder']}"
        width = f", {stage['inner']} units inside each layer" if stage.get("inner") else ""
        lines.append(
            f"- Stage {number}, starting from {first if number == 1 else 'the stage before'}: {stage['epochs']} epochs,"
            f" learning rate {stage['learning_rate']:g}, {stage['batch_tokens']:,} tokens in a batch, seed"
            f" {stage['seed']}{width}; in the last {stage['rounded_share']:.0%} of the steps, weights are rounded to"
            " seven bits and the inputs of layers to eight"
        )
    return lines


def _teachers(facts: Mapping[str, Any]) -> list[str]:
    if not facts.get("teachers"):
        return []
    share = facts["settings"]["teacher_share"]
    return [
        f"- Teachers: {', '.join(facts['teachers'])}. Their mean probability makes up {share:.0%} of the target of a"
        " pair; the rest is the label"
    ]


def _figure(found: Mapping[str, Any], metric: str) -> str:
    """Return a figure with its interval if there is one."""
    low, high = found.get("intervals", {}).get(metric, (None, None))
    return f"{found[metric]:.3f}" if low is None else f"{found[metric]:.3f} ({low:.3f} to {high:.3f})"
