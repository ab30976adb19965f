"""Plug paraqd into other people's tools."""
