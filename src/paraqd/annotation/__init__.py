"""Make test sets, label them, compare annotators, check labels."""
