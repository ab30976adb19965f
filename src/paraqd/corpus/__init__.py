"""Corpora: file formats, augmentation, and checks of what was made."""
