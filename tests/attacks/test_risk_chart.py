"""The classes of risk: bounds belong to the class below, rounding included where it is asked for."""

import numpy as np
import pytest

from wayveil.attacks.person_risk import FOUND, SINGLED_OUT, risk_chart, share_chart

BOUNDS = (1 / 50, 1 / 20, 1 / 10, 1 / 5, 1 / 2)


def label_of(risk, **options):
    """Return the one class that has all of a single risk."""
    chart = risk_chart(np.array([risk]), FOUND, **options)
    (label,) = (label for label, share in zip(chart.labels, chart.series[0].values, strict=True) if share == 1)
    return label


@pytest.mark.parametrize(("bound", "below", "above"), list(zip(BOUNDS, FOUND[1:-2], FOUND[2:-1], strict=True)))
def test_a_bound_is_in_the_class_below_it(bound, below, above):
    assert label_of(bound) == below
    assert label_of(bound + 1e-12) == above
    assert label_of(bound + 1e-12, rounding=1e-9) == below
    assert label_of(bound + 1e-8, rounding=1e-9) == above


def test_nobody_and_everybody_are_classes_of_their_own():
    assert (label_of(0.0), label_of(1e-12)) == ("0: not found", "up to 1/50")
    assert (label_of(1.0), label_of(1 - 1e-12)) == ("1: found", "1/2 to 1")
    assert (label_of(1 - 1e-12, rounding=1e-9), label_of(1 - 1e-8, rounding=1e-9)) == ("1: found", "1/2 to 1")
    assert len(FOUND) == len(SINGLED_OUT) == len(BOUNDS) + 3


def test_what_is_counted_is_named_and_nothing_has_no_share():
    chart = risk_chart(np.zeros(0), SINGLED_OUT, of="attacks")
    assert (chart.series[0].name, chart.y_label, chart.labels) == ("share of attacks", "share of attacks", SINGLED_OUT)
    assert chart.series[0].values == (0.0,) * len(SINGLED_OUT)
    assert (chart.kind, chart.percent) == ("bars", True)
    assert share_chart("Who?", "class", ("a", "b"), np.array([1])).y_label == "share of people"
