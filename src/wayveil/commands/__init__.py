"""Each step of the line on its own, and the demonstration."""
