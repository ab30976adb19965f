"""Create test sets, label them, measure the agreement between annotators, and check labels."""
