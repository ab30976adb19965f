"""Find faults with rules, one family of rules per file."""
