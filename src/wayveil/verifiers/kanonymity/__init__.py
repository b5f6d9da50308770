"""k-anonymity of boxes."""
