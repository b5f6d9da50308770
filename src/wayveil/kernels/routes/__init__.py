"""Routes on a road network: clusters, frequent roads and shared prefixes, for icba, cba and prefix."""
