"""When places and cells are busy."""
