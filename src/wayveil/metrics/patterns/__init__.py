"""Whether what many people do in a row is still found."""
