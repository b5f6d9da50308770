"""Attackers who know where somebody stopped."""
