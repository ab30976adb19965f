"""Reword problems by rules: edits on a dependency parse, one family per file."""
