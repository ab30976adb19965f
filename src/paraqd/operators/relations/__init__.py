"""Reverse relations between quantities."""
