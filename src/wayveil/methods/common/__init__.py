"""What several methods need of people and trajectories."""
