"""Attackers who know places without times: which, how often, in which order."""
