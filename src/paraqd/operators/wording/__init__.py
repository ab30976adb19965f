"""Change single words."""
