"""Rename people and things, or confuse one person or thing with another."""
