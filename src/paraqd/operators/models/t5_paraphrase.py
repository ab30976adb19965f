"""fe T5Paraphrase: a paraphraser of questions, which loses something of a word problem."""

from __future__ import annotations

from paraqd.operators.models.lossy_paraphrase import LossyParaphrase


class T5Paraphrase(LossyParaphrase):
    """Rewords with a model fine-tuned on Quora's question pairs (fe, invalid): T5 in the paper."""

    name = "T5Paraphrase"
    paper_id = "fe"
    needs = ("generator.fe",)
