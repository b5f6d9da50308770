"""Places and taxonomies of places."""
