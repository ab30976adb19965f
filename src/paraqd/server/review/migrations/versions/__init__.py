"""Hold one file per version of the tables. A released file is never changed."""
