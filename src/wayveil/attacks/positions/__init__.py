"""Attackers who know positions, exact or not, and meet points, boxes or patterns of them."""
