"""Provide the command line, with one thin module for each command."""
