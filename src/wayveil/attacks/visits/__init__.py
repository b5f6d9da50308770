"""Attackers who know visits, a place and a time each, or the ends of trips."""
