"""(K,C)_L-privacy: the verifier, and its verdict over shares of a table."""
