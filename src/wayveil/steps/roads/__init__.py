"""Steps for routes: matched to roads, cut into slices of time."""
