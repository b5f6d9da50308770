"""Road networks: read, assembled from what files hold, written."""
