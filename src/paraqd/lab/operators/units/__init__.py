"""Change units or their notation."""
