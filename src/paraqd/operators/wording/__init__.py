"""Change individual words, their spelling or their notation."""
