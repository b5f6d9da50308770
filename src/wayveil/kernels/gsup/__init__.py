"""Greedy suppression against adversaries who hold parts of all trajectories."""
