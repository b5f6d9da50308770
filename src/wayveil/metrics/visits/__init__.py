"""Which visits are left."""
