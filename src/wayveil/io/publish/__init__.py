"""Published tables: written in one canonical form, and read back."""
