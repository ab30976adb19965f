"""Reword problems with rules that use a dependency parse. Each family of edits has its own module."""
