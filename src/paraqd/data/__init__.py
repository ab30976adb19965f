"""Read and write tables, manage named data sets, and build pairs and triplets."""
