"""What icba, cba and prefix share: clusters of routes, parts of trips, shares of people."""
