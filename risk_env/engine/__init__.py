"""Kernels for speed: the batch loop, incremental observations, vectors, prefetching and threads."""
