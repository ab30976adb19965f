"""Operators that turn relations round."""
