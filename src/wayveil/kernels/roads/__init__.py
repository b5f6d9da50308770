"""Positions on a road network: map matching, shortest paths and walks."""
