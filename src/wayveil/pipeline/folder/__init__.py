"""A publication as a folder: how it appears in one step, what its manifest says, and how it is verified again."""
