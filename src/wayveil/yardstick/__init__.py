"""One yardstick for fine and coarse publications of one file."""
