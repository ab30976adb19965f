"""Download and build named data sets, apply operators to files, and build pairs and triplets."""
