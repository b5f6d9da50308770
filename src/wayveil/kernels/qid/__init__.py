"""Trajectories that hide one another at the times that are quasi-identifiers."""
