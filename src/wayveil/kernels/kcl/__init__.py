"""(K,C)_L-privacy: violating sequences, greedy suppression, and giving back what need not be suppressed."""
