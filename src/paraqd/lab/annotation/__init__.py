"""Create and label test sets, measure the agreement between annotators, and check labels."""
