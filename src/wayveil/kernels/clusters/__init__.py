"""Clusters of trajectories around pivots, for nwa and w4m."""
