"""Produce paraphrases with a model."""
