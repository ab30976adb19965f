"""Integrate paraqd with other tools."""
