"""Rules that find faults, one family per file."""
