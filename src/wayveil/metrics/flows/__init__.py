"""From where to where people go."""
