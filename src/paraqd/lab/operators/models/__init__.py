"""Produce paraphrases with models."""
