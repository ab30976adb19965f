"""Paraphrase with a model for questions, which loses part of a word problem (fe)."""

from __future__ import annotations

from paraqd.operators.models.lossy_paraphrase import LossyParaphrase


class T5Paraphrase(LossyParaphrase):
    """Paraphrase with a model fine-tuned on Quora's question pairs (fe); the paper uses T5."""

    name = "T5Paraphrase"
    paper_id = "fe"
    needs = ("generator.fe",)
