"""Run a model."""
