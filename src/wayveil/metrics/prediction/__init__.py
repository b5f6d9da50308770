"""Whether the next place can be foretold as well as before."""
