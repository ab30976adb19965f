"""Read and write tables; named data sets, pairs and triplets."""
