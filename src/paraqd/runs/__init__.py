"""Resumable work over files and folders."""
