"""Change numbers or their notation."""
