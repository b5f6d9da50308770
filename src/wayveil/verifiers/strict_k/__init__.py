"""Strict k-anonymity of routes."""
