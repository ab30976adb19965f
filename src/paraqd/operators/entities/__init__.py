"""Rename people and things, or confuse them with each other."""
