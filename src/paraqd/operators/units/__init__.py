"""Change units, or how they are written."""
