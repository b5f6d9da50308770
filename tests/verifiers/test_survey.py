"""Table 1 of the survey, judged as visits: an attribute is a place, its column the time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wayveil.model import KclPrivacy, Visits
from wayveil.verifiers import check_kcl

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parents[1] / "golden/survey/table1.json").read_text())


def judged(name: str) -> dict[str, Any]:
    """With all three attributes in every row, the rarest combination of attributes is the smallest class."""
    rows = [row.split() for row in GOLDEN["tables"][name]]
    data = Visits.from_records(
        [list(zip(row[:3], (1, 2, 3), strict=True)) for row in rows], attributes={"ill": [row[3] for row in rows]}
    )
    claim = KclPrivacy(k=2, c=1, l=3, sensitive={"ill": ["HIV", "flu", "fever"]})
    return dict(check_kcl(data, claim).measured)


@pytest.mark.parametrize("name", GOLDEN["tables"])
def test_the_smallest_class(name: str) -> None:
    assert judged(name)["min_support"] == GOLDEN["smallest class"][name]


@pytest.mark.parametrize("name", GOLDEN["largest confidence"])
def test_what_a_class_discloses(name: str) -> None:
    assert judged(name)["max_confidence_exact"] == GOLDEN["largest confidence"][name]
