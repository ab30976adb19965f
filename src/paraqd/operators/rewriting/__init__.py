"""Rewording by rule: edits over a dependency parse, one file per family."""
