"""Attacks on synthetic trajectories, which are nobody's."""
