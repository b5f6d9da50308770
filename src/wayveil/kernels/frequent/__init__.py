"""Frequent sequences and sequential patterns."""
