"""Wayveil."""
