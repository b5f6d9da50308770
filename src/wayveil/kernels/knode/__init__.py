"""Groups of trajectories in a trajectory graph, and the boxes around them."""
