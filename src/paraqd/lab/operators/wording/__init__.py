"""Replace, delete, add or misspell individual words and phrases."""
