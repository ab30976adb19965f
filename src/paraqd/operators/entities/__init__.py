"""Operators that rename people and things, or confuse them."""
