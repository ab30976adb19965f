"""Paraphrase with a model for general questions that tends to lose information (fe)."""

from __future__ import annotations

from paraqd.lab.operators.models.lossy_paraphrase import LossyParaphrase


class T5Paraphrase(LossyParaphrase):
    """Paraphrase with a model for general questions that tends to lose information (fe).

    The paper's model is T5, fine-tuned on Quora Question Pairs.
    """

    name = "T5Paraphrase"
    paper_id = "fe"
    needs = ("generator.fe",)
