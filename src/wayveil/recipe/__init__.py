"""What to do: the checked recipe, what can be named in it, and what is done where it says nothing."""
