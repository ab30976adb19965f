"""Reword problems by rules, with edits on a dependency parse; each file holds one family of edits."""
