"""Create and upgrade the tables of the database, version by version."""
