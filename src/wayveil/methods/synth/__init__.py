"""The method `synth`: synthetic trajectories from a differentially private model."""

from wayveil.methods.synth.synth import Synth

__all__ = ["Synth"]
