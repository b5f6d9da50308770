"""k-anonymity of all parts of routes."""
