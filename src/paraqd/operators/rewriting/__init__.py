"""Reword problems with rules on a dependency parse; each module holds one family of edits."""
