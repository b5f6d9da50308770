"""c-safety over a taxonomy of places."""
