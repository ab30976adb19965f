"""Provide the pairs, measuring processes, environments and report for ``bench/speed.py``."""
