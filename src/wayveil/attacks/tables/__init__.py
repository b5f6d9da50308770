"""Attacks on tables of counts."""
