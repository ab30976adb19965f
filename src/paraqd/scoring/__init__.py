"""Score pairs of a question and a paraphrase."""
