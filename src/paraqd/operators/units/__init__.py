"""Operators that change how units are written, or the units."""
