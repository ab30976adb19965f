"""Write model cards from the data in ``paraqd.json``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paraqd.judge_package import HOMEPAGE, SOLVABLE
from paraqd.lab.training.fusion_fitting import METRICS

_SETS = {
    "written": "Questions that a language model rewrote. Each of 4,200 questions was rewritten heavily and moderately, "
    "both validly and with one fault. This set is the training part, without the validation questions, the benchmark "
    "questions and their near twins.",
    "composed": "Outputs of operators that were applied to the valid rewrites.",
    "rules": "Outputs of operators that were applied to other questions.",
    "synthetic": "Problems with valid and invalid paraphrases, written for this project by language models "
    "(`datasets/synthetic`). Other readers checked 4,100 paraphrases and found 6 wrong labels.",
    "synthetic_composed": "Outputs of operators that were applied to the valid paraphrases of the synthetic problems.",
    "styles": "Problems with valid and invalid paraphrases in today's styles, written by language models "
    "(`datasets/styles`).",
    "styles_composed": "Outputs of operators that were applied to the valid paraphrases in `styles`.",
    "model_rewrites": "Rewrites by a small language model, labelled by other language models "
    "(`datasets/model_rewrites`).",
    "strangers": "Pairs of different questions.",
    "appended": "Texts paired with copies that also ask the question of another text.",
    "unlabelled": "Pairs without labels, which only the language-model judge has judged.",
    "natural": "Pairs of questions with the same numbers and the same computed answer.",
    "sampled": "Rewrites in several styles by a small language model that was trained on valid paraphrases, without "
    "labels.",
}


def judge_card(facts: Mapping[str, Any]) -> str:
    """Return the model card for a scorer with a learned judge."""
    lines = [
        *_front_matter(facts, base=facts["encoder"], library="paraqd", task="text-classification"),
        "This model determines whether a paraphrase of a math word problem is still the same problem with the same"
        " answer. It returns a score from -1 to 1 and evidence. A score above 0.5 means that the paraphrase is valid. A"
        " cross-encoder reads both texts and predicts whether the paraphrase is valid, the kind of fault and the words"
        " at fault. A logistic regression, called the fusion, combines the cross-encoder's log-odds with the findings"
        " of rules. The model was trained with paraqd.",
        "",
        "## Training data",
        "| set | pairs | content |",
        "| --- | ---: | --- |",
        *(f"| {name} | {found['pairs']:,} | {_SETS.get(name, '')} |" for name, found in facts["data"].items()),
        "",
        "Before the model reads a pair, each quantity in the paraphrase that equals a quantity in the question is"
        " rewritten as it appears in the question.",
        "",
        "## Training",
        f"Recipe `{facts['recipe']}`.",
        "",
        *_stages(facts),
        *_teachers(facts),
        "- Fusion: no finding can raise a score. Findings that are too rare in the validation pairs to be measured keep"
        f" their prior weights. The weight of the cross-encoder's log-odds is {facts['fusion']['model_weight']:.2f}.",
        "",
        "## Validation",
        "The validation questions and their near twins are not in the training data. The fusion is measured by"
        " cross-validation. The 95 % intervals come from a bootstrap over questions.",
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
        "The model handles only word problems in English. It compares the texts and does not solve the problem, so it"
        " can miss a fault that only becomes apparent in the solution. Pairs of more than 320 tokens are read in"
        " windows. The predicted kind of a fault is less reliable than the verdict.",
        "",
    ]
    return "\n".join(lines)


def solvable_card(facts: Mapping[str, Any]) -> str:
    """Return the model card for a model that tells whether a question is solvable."""
    held_out = facts["held_out_families"]
    left_out = facts.get("left_out_families")
    export = facts.get("export")  # only the large model is written in another form than it was trained in
    reader = "A language model, MPNet," if export else "An encoder with six layers"
    base = facts["base"] if export else facts["encoder"]
    lines = [
        *_front_matter(facts, base=base, library="paraqd", task="text-classification"),
        "This model tells whether a math word problem has all that a solver needs: a question, all numbers and facts,"
        " no reference to something unknown, and words that make sense. It returns a score from -1 to 1 and evidence. A"
        f" score above 0.5 means that the question is solvable. {reader} reads the text and predicts"
        " whether the question is solvable, the kind of fault and the words at fault. The model was trained with"
        " paraqd.",
        *(["", f"It was trained without the families {' and '.join(left_out)}, to measure them."] if left_out else []),
        *(["", "## Use", SOLVABLE.use, "", "```", *SOLVABLE.example.splitlines(), "```"] if export else []),
        "",
        "## Training data",
        f"{facts['data']['texts']:,} texts, of which {facts['data']['solvable']:,} are solvable: questions, valid"
        " paraphrases, outputs of operators, and questions with and without faults that language models wrote one by"
        " one (`datasets/solvable`).",
        "",
        "## Training",
        f"Recipe `{facts['recipe']}`.",
        "",
        *_stages(facts),
        *_export(facts),
        "",
        "## Validation",
        "The validation questions and their near twins are not in the training data. Each figure is the AUC of the"
        " broken texts of one family of faults against all solvable validation texts. The second column is for a"
        f" model that was trained in the same way but without the families {' and '.join(held_out) or '(none)'}.",
        "",
        "| family | texts | AUC | AUC, families held out |",
        "| --- | ---: | --- | --- |",
        *(
            f"| {name}{' (held out)' if name in held_out else ''} | {found['texts']:,} | {found['auc']:.3f} |"
            f" {facts['measured'][name]['auc']:.3f} |"
            for name, found in facts["validation"].items()
        ),
        "",
        "## Limits",
        "The model handles only word problems in English. It reads the text and does not solve the problem, so it can"
        " fail to notice that a fact is missing if this shows only in the solution. Texts of more than 160 tokens"
        " (about 115 words) are read in parts. The predicted kind of a fault is less reliable than the verdict.",
        "",
    ]
    return "\n".join(lines)


def _origin(facts: Mapping[str, Any]) -> str:
    """Return the model with whose weights the training of a language-model judge started."""
    earlier = f"the earlier judge {facts['start']}, which was made from " if facts["start"] else ""
    return f"{earlier}{facts['base']}"


def language_judge_card(facts: Mapping[str, Any]) -> str:
    """Return the model card for a language-model judge."""
    cascade, settings, shares = facts["cascade"], facts["settings"], facts["shares"]
    drawn = {name: int(share * facts["pairs"]) for name, share in shares.items()}
    lines = [
        *_front_matter(facts, base=facts["base"], library="paraqd", task="text-classification"),
        "This model gives paraqd a second opinion on whether a paraphrase of a math word problem is still the same"
        " problem. A language model, MPNet, reads both texts together. Three heads predict whether the paraphrase is"
        " valid, the kind of fault and the tokens at fault. It is asked about pairs"
        f" of which the small judge of `{cascade['model']}` is unsure, and it works only together with that model.",
        "",
        "## Training data",
        "| set | pairs | drawn per epoch | content |",
        "| --- | ---: | ---: | --- |",
        *(
            f"| {name} | {found['pairs']:,} | {min(found['pairs'], drawn.get(name, found['pairs'])):,}"
            f" | {_SETS.get(name, '')} |"
            for name, found in facts["data"].items()
        ),
        "",
        "## Training",
        f"Recipe `{facts['recipe']}`, starting from {_origin(facts)}: {settings['epochs']} epochs,"
        f" learning rate {settings['learning_rate']:g}, {settings['batch_tokens']:,} tokens per batch, seed"
        f" {settings['seed']}. In the last {settings['rounded_share']:.0%} of the steps, the weights of the linear maps"
        " are rounded to 4 bits and their inputs to 8 bits, as in the exported model. On"
        f" {facts['export']['pairs']} validation pairs, the exported"
        f" judge's probability differs from the trained judge's by {facts['export']['mean']:.4f} on average and by"
        f" {facts['export']['most']:.3f} at most.",
        "",
        "## Validation",
        "The validation questions and their near twins are not in the training data. The weights of the answers are"
        " fitted to the validation pairs and measured by cross-validation; the small judge has its own fusion, "
        "which was fitted to the same pairs. *asked*"
        " is the share of the pairs about which the cascade asks this judge. Each cell shows macro F1 and AUC.",
        "",
        "| set | pairs | small judge | this judge | both | cascade | asked |",
        "| --- | ---: | --- | --- | --- | --- | ---: |",
        *(
            f"| {name} | {found['pairs']:,} | "
            + " | ".join(_two_figures(found[kind]) for kind in ("small", "large", "both", "cascade"))
            + f" | {found['asked']:.0%} |"
            for name, found in facts["validation"].items()
        ),
        "",
        "## Limits",
        "The model handles only word problems in English. It does not solve the problem. The predicted kind of a fault"
        " is less reliable than the verdict.",
        "",
    ]
    return "\n".join(lines)


def bi_encoder_card(facts: Mapping[str, Any]) -> str:
    """Return the model card for a bi-encoder."""
    settings, data, found = facts["settings"], facts["data"], facts.get("validation")
    lines = [
        *_front_matter(facts, base=facts["encoder"], library="sentence-transformers", task="sentence-similarity"),
        "This bi-encoder scores whether a paraphrase of a math word problem is still the same problem. The score is the"
        " cosine similarity of the two embeddings, from -1 to 1. A score above 0.5 means that the paraphrase is valid."
        f" The model was trained with [paraqd]({HOMEPAGE}), using the method of the ParaQD paper (ECML-PKDD 2022).",
        "",
        "```python",
        "from sentence_transformers import SentenceTransformer",
        f'model = SentenceTransformer("{facts["name"]}")',
        "```",
        "",
        "## Training",
        f"- Encoder: {facts['encoder']}" + (f", the first {facts['layers']} layers" if facts.get("layers") else ""),
        f"- Recipe: {facts['recipe']}; {data['triplets']:,} triplets from {data['questions']:,} questions"
        f" (sha256 {data['sha256'][:16]}…)",
        f"- Settings: {', '.join(f'{key} {value}' for key, value in settings.items())}",
    ]
    if facts.get("processes", 1) > 1:
        lines.append(f"- Trained in {facts['processes']} processes, which shared every batch")
    if facts.get("stand_ins"):
        lines.append(f"- Stand-ins for models that were not available: {', '.join(facts['stand_ins'])}")
    if facts.get("left_out"):
        lines.append(f"- Operators skipped because their models were not available: {', '.join(facts['left_out'])}")
    if found:
        overlap = facts.get("validation_overlap") or 0
        note = f" ({overlap:,} of the questions are also in the training data)" if overlap else " from other questions"
        lines += [
            "",
            "## Validation",
            f"{found['triplets']:,} triplets{note}: accuracy {found['accuracy']:.3f},"
            f" separation {found['separation']:.3f} (valid {found['mu_pos']:.3f}, invalid {found['mu_neg']:.3f}).",
        ]
    lines += [
        "",
        "## Limits",
        "A single vector cannot represent every number in a text, so changed numbers often go unnoticed. The model was"
        " trained on pairs produced by rules, and it rejects heavy but correct rewording more often than a person"
        " would.",
        "",
    ]
    return "\n".join(lines)


def _front_matter(facts: Mapping[str, Any], *, base: str, library: str, task: str) -> list[str]:
    return [
        "---",
        f"library_name: {library}",
        f"pipeline_tag: {task}",
        "language: en",
        "license: apache-2.0",
        f"base_model: {base}",
        "tags: [paraqd, paraphrase, word-problems]",
        "---",
        f"# {facts['name']}",
        "",
    ]


def _stages(facts: Mapping[str, Any]) -> list[str]:
    """Return one line for each stage of a judge's training."""
    lines = []
    bits = "four" if "export" in facts else "seven"
    for number, stage in enumerate(facts["stages"], start=1):
        first = facts.get("start") or f"the encoder {facts['encoder']}"
        width = f", {stage['inner']} inner units in each layer" if stage.get("inner") else ""
        lines.append(
            f"- Stage {number}, starting from {first if number == 1 else 'the previous stage'}: {stage['epochs']}"
            f" epochs, learning rate {stage['learning_rate']:g}, {stage['batch_tokens']:,} tokens per batch, seed"
            f" {stage['seed']}{width}. In the last {stage['rounded_share']:.0%} of the steps, weights are rounded to"
            f" {bits} bits and the inputs of layers to eight bits."
        )
    return lines


def _export(facts: Mapping[str, Any]) -> list[str]:
    """Return a line on how far a model differs from the trained one, if it is written in another form."""
    found = facts.get("export")
    if not found:
        return []
    return [
        f"- On {found['pairs']} validation texts, the model's probability differs from the trained one's by"
        f" {found['mean']:.4f} on average and by {found['most']:.3f} at most."
    ]


def _teachers(facts: Mapping[str, Any]) -> list[str]:
    if not facts.get("teachers"):
        return []
    share = facts["settings"]["teacher_share"]
    return [
        f"- Teachers: {', '.join(facts['teachers'])}. The target for a pair is a weighted mean of the teachers'"
        f" combined prediction ({share:.0%}) and the label ({1 - share:.0%})."
    ]


def _figure(found: Mapping[str, Any], metric: str) -> str:
    """Format a metric's value, followed by its interval if there is one."""
    low, high = found.get("intervals", {}).get(metric, (None, None))
    return f"{found[metric]:.3f}" if low is None else f"{found[metric]:.3f} ({low:.3f} to {high:.3f})"


def _two_figures(found: Mapping[str, float]) -> str:
    """Format macro F1 and AUC, which are missing if all pairs of a set have the same label."""
    return f"{found['macro_f1']:.3f}, {found['auc']:.3f}" if found else "–"
