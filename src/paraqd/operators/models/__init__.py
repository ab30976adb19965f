"""Operators that run a model."""
