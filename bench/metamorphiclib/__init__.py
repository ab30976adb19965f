"""Edits of questions whose effect on a verdict is known, for `bench/metamorphic.py`."""
