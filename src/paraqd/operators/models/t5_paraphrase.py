"""Paraphrase with a model for questions, which loses part of the word problem (fe)."""

from __future__ import annotations

from paraqd.operators.models.lossy_paraphrase import LossyParaphrase


class T5Paraphrase(LossyParaphrase):
    """Paraphrase with a model fine-tuned on Quora Question Pairs (fe); the paper uses T5."""

    name = "T5Paraphrase"
    paper_id = "fe"
    needs = ("generator.fe",)
