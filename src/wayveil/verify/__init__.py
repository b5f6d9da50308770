"""Judges of published data: one file per guarantee; they share nothing with the methods but `model`."""

from wayveil.model.protocols import Verifier
from wayveil.verify.kanonymity import check_kanonymity
from wayveil.verify.kcl import check_kcl
from wayveil.verify.kdelta import check_kdelta

__all__ = ["VERIFIERS", "check_kanonymity", "check_kcl", "check_kdelta"]

VERIFIERS: dict[str, Verifier] = {"KCL": check_kcl, "KDelta": check_kdelta, "KAnonymity": check_kanonymity}
"""The verifier of each guarantee, by the name of the guarantee."""
