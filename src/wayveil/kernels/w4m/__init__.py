"""Kernels of `w4m`: clusters by edit distance, and how their members are edited."""
