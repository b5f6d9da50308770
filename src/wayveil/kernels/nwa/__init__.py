"""Kernels of `nwa`: greedy clusters around pivots, on a tree of trajectories."""
