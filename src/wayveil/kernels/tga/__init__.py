"""Matching the points of trajectories, and bounds of what it costs."""
