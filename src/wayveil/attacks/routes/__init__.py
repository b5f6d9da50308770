"""Attackers who know roads that somebody took."""
