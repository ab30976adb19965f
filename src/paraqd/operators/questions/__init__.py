"""Change the form of the question, or the question itself."""
