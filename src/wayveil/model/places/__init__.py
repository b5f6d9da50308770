"""What places are, and how they lie in each other: points of interest, categories, outlines of zones."""
