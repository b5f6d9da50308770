"""File formats, one table of endings, and what opens each."""
