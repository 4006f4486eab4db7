"""Kernels that only the doors need, compiled and cached apart from the core."""
