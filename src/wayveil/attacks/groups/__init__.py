"""Attackers who know in which published group their victim is."""
