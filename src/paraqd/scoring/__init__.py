"""Scores for pairs of a question and a paraphrase, and the signature that says how they came about."""
