"""Operators that change how numbers are written, or the numbers."""
