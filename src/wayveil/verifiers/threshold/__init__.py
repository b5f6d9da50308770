"""Numbers that count enough people, and none that can be worked out."""
