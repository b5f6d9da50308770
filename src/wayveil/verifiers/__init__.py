"""Judges of published data: one file per guarantee; they share nothing with the methods but `model`."""

from wayveil.model.protocols import Verifier
from wayveil.verifiers.attack_graph.attack_graph_verifier import check_attack_graph
from wayveil.verifiers.breach_bound.breach_bound_verifier import check_breach_bound
from wayveil.verifiers.combined_verdicts import Need, apart, class_keys, join_verdicts, union_condition
from wayveil.verifiers.csafety.csafety_verifier import GROUPED_BLINDLY, check_csafety
from wayveil.verifiers.definitions import NEED_TRUTH, find_break_by_definition
from wayveil.verifiers.differential_privacy.differential_privacy_verifier import (
    NOISE_BY_CONSTRUCTION,
    check_differential_privacy,
    find_other_mechanism,
)
from wayveil.verifiers.kanonymity.kanonymity_verifier import check_kanonymity
from wayveil.verifiers.kcl.kcl_shares import KclShare, cut_share, join_shares, judge_share
from wayveil.verifiers.kcl.kcl_verifier import check_kcl
from wayveil.verifiers.kdelta.kdelta_verifier import PLACED_BY_CHANCE, check_kdelta
from wayveil.verifiers.strict_k.strict_k_verifier import check_strict_k
from wayveil.verifiers.subsequence_k.subsequence_k_verifier import check_subsequence_k
from wayveil.verifiers.threshold.threshold_verifier import check_threshold

__all__ = [
    "NEED_TRUTH",
    "NOISE_BY_CONSTRUCTION",
    "SHOWN_BY_REPETITION",
    "VERIFIERS",
    "KclShare",
    "Need",
    "apart",
    "check_attack_graph",
    "check_breach_bound",
    "check_csafety",
    "check_differential_privacy",
    "check_kanonymity",
    "check_kcl",
    "check_kdelta",
    "check_strict_k",
    "check_subsequence_k",
    "check_threshold",
    "class_keys",
    "cut_share",
    "find_break_by_definition",
    "find_other_mechanism",
    "join_shares",
    "join_verdicts",
    "judge_share",
    "union_condition",
]

SHOWN_BY_REPETITION = (PLACED_BY_CHANCE, GROUPED_BLINDLY, NOISE_BY_CONSTRUCTION)
"""Parts of claims that no file shows, but a second run: one that gives the same bytes from the secret of the first, or
the same mechanism where noise is never the same twice."""

VERIFIERS: dict[str, Verifier] = {
    "KCL": check_kcl,
    "KDelta": check_kdelta,
    "KAnonymity": check_kanonymity,
    "AttackGraph": check_attack_graph,
    "BreachBound": check_breach_bound,
    "StrictK": check_strict_k,
    "SubsequenceK": check_subsequence_k,
    "CSafety": check_csafety,
    "Threshold": check_threshold,
    "DifferentialPrivacy": check_differential_privacy,
}
"""The verifier of each guarantee, by the name of the guarantee."""
