"""Rename people and things, or confuse them."""
