"""What makes the rules fast: batch loop, incremental observations, vectors, prefetching, threads."""
