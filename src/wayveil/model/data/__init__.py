"""Data: one class per kind, what they are made of, and how times and coordinates are meant."""
