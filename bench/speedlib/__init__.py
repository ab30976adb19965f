"""What ``bench/speed.py`` is made of: pairs, the process that measures, other people's environment, the report."""
