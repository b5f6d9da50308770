"""What there is, by name."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from wayveil.errors import ParameterError, UsageError
from wayveil.model import KclPrivacy, Visits
from wayveil.recipe import catalog
from wayveil.verifiers import check_kcl

FAMILIES: tuple[catalog.Family, ...] = ("method", "step", "attack", "metric", "workload")


@pytest.mark.parametrize("family", FAMILIES)
def test_entries_and_suggestions(family: catalog.Family) -> None:
    known = catalog.entries(family)
    assert known
    name = next(iter(known))
    assert catalog.entry(family, name) is known[name]
    with pytest.raises(UsageError, match=f"no {family} '{name}x'; known: .* Did you mean '{name}'"):
        catalog.entry(family, f"{name}x")


def test_build_checks_every_value() -> None:
    built: Any = catalog.build("method", "kcl", {"k": 2, "c": 0.6, "l": 1})
    assert built.claim == KclPrivacy(k=2, c=Fraction(3, 5), l=1)
    assert catalog.plain_parameters(built)["c"] == "0.6"
    assert catalog.build("method", "kcl", catalog.plain_parameters(built)) == built
    with pytest.raises(ParameterError, match="kcl: k, l must be given"):
        catalog.build("method", "kcl", {})
    with pytest.raises(ParameterError, match=r"no parameter 'supression'.* Did you mean 'suppression'"):
        catalog.build("method", "kcl", {"k": 2, "l": 2, "supression": "local"})


def test_what_is_typed_is_exact() -> None:
    assert catalog.parse("method", "kcl", {"k": "3", "c": "0.1"}) == {"k": 3, "c": Fraction(1, 10)}
    assert catalog.parse_sensitive(["a=x,y", "b=z"]) == (("a", ("x", "y")), ("b", ("z",)))
    with pytest.raises(ParameterError, match="ATTRIBUTE=VALUE"):
        catalog.parse_sensitive(["a"])


def test_verifier_and_engine() -> None:
    claim, data = KclPrivacy(k=2, c=1, l=1), Visits.from_records([[("a", 1)], [("a", 1)]])
    assert catalog.verify(data, claim) == check_kcl(data, claim)
    assert catalog.verify(data, claim).holds
    assert catalog.make_engine().workers >= 1
    with pytest.raises(UsageError, match="no engine 'spark'"):
        catalog.make_engine("spark")


def test_a_description_has_a_true_example() -> None:
    described = catalog.describe("kcl")
    method = catalog.build("method", "kcl", described["example"])
    assert method.claim.promise == described["promise"]
