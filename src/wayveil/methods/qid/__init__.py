"""k candidates for declared quasi-identifiers."""

from wayveil.methods.qid.qid import Qid

__all__ = ["Qid"]
