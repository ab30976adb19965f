"""Operators that add, drop or move whole sentences and clauses."""
