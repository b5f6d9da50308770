"""Attackers who know a habit of a person."""
