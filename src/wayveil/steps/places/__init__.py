"""Steps that turn positions into places: cells, stops, ends of trips."""
