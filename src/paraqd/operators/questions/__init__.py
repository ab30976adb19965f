"""Operators that change how the question is asked, or what it asks."""
