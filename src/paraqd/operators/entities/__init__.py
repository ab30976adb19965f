"""Rename people and things, or mix them up."""
