"""The bound on what adversaries with projections learn."""
