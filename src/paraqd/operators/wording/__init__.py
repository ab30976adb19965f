"""Operators that change single words."""
