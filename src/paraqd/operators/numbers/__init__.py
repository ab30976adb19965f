"""Change numbers, or how they are written."""
