"""What boxes and cells hide."""
