"""A table of each kind of data to the model, with what lies beside it."""
