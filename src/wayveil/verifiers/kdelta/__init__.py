"""(k,delta)-anonymity: sets of trajectories that stay within delta of each other."""
