"""What the data look like before and after."""
