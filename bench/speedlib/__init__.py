"""Hold the parts of ``bench/speed.py``: pairs, measuring processes, environments and the report."""
