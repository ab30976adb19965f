"""Add, delete or move whole sentences and clauses."""
