"""The straight line from a recipe to a verified publication."""
