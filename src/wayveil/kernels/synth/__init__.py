"""Kernels of `synth`: paths over cells, counts with shares per person, and draws from a noisy model."""
