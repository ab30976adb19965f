"""Serve verdicts over HTTP, and let people review them in a browser."""
