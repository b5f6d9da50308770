"""Attackers who put pieces of trips together again."""
