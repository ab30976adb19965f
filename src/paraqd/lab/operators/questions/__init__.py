"""Change the form of the question, or replace the question."""
