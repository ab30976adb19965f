"""Serve the review page: one HTML file, its style sheets and its scripts."""
