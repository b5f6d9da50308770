"""What a declared mechanism spends of its budget, and what it can publish."""
