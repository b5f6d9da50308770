"""Judges of published data: one file per guarantee; they share nothing with the methods but `model`."""

from wayveil.model.protocols import Verifier
from wayveil.verify.kcl import check_kcl

__all__ = ["VERIFIERS", "check_kcl"]

VERIFIERS: dict[str, Verifier] = {"KCL": check_kcl}
"""The verifier of each guarantee, by the name of the guarantee."""
