"""What makes the rules fast on this processor: batch loop, incremental views, vectors, prefetch, threads."""
