"""Visits per place and hour against counting."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, ParameterError
from wayveil.metrics.hours import PlaceHours
from wayveil.model import Visits


def visits(*records, **more):
    """Each record is text such as "a1 b3": places and times."""
    return Visits.from_records([[(v[0], int(v[1:])) for v in r.split()] for r in records], **more)


def run(before, after, **given_):
    return PlaceHours(**given_).run(before, after)


def test_all_numbers_of_a_small_case():
    before = visits("a0 b10 a90000", "a20 b7200", time_format="epoch")  # the hours are 0 0 1 0 2
    after = visits("a0 c7200", "a20 b7300", time_format="epoch")
    score = run(before, after, top=1)
    # a@0 2, b@0 1, a@1 1, b@2 1 against a@0 2, c@2 1, b@2 1
    assert (score.name, score.better, score.percent) == ("place_hours", "lower", True)
    assert score.value == pytest.approx(1 - 3 / 5)
    assert score.measured == pytest.approx(
        {
            "visits_before": 5,
            "visits_after": 4,
            "visits_moved_share": (1 / 10 + 1 / 5 + 1 / 5 + 1 / 20 + 1 / 4) / 2,
            "place_hours_before": 4,
            "place_hours_after": 3,
            "place_hours_kept_share": 2 / 4,
            "mean_error": 2 / 4,
            "mean_relative_error": 2 / 4,
            "largest_error": 1,
            "top_1_kept_share": 1,
            "places_moved_share": (abs(3 / 5 - 2 / 4) + abs(2 / 5 - 1 / 4) + 1 / 4) / 2,
            "hours_moved_share": (abs(3 / 5 - 2 / 4) + 1 / 5 + abs(1 / 5 - 2 / 4)) / 2,
        }
    )
    assert {name: score.numbers[name].of for name in ("mean_error", "largest_error")} == {
        "mean_error": "visits",
        "largest_error": "visits",
    }
    hours, worst = score.charts
    assert hours.labels == tuple(str(i) for i in range(24))
    assert hours.series[0].values == (3, 1, 1) + (0,) * 21
    assert hours.series[1].values == (2, 0, 2) + (0,) * 21
    assert worst.title == "The 3 largest changes"
    assert worst.labels == ("a @ 1 h", "b @ 0 h", "c @ 2 h")
    assert [s.values for s in worst.series] == [(1, 1, 0), (0, 0, 1)]


record = st.dictionaries(st.integers(0, 70), st.sampled_from("abc"), max_size=6)
records = st.lists(record, max_size=5)


def build(some, names):
    return Visits.from_records([[(names[p], t) for t, p in sorted(r.items())] for r in some])


@settings(deadline=None, max_examples=150)
@given(records, records)
def test_against_counting_in_plain_integers(before, after):
    names = {"a": "z", "b": "b", "c": "c"}  # another order of codes on the published side where "z" is missing
    score = run(build(before, names), build(after, names), top=3)
    times = [t for r in before for t in r] or [0]
    first, last = min(times), max(times)
    width = -(-(last - first + 1) // 24)

    def count(some):
        return Counter((p, (min(max(t, first), last) - first) // width) for r in some for t, p in r.items())

    old, new = count(before), count(after)
    assert score.measured["visits_before"] == old.total()
    assert score.measured["place_hours_after"] == len(new)
    assert score.measured["largest_error"] == max((abs(old[k] - new[k]) for k in old | new), default=0)
    if old:
        errors = [abs(old[k] - new[k]) for k in old]
        assert score.measured["mean_error"] == pytest.approx(sum(errors) / len(old))
        assert score.measured["mean_relative_error"] == pytest.approx(
            sum(abs(old[k] - new[k]) / old[k] for k in old) / len(old)
        )
    if old and new:
        for name, part in (("places_moved_share", 0), ("hours_moved_share", 1), ("visits_moved_share", None)):
            sides = [Counter(), Counter()]
            for side, found in zip(sides, (old, new), strict=True):
                for key, n in found.items():
                    side[key if part is None else key[part]] += n
            apart = sum(abs(sides[0][k] / old.total() - sides[1][k] / new.total()) for k in sides[0] | sides[1]) / 2
            assert score.measured[name] == pytest.approx(apart)
    assert score.value == (pytest.approx(1 - (old & new).total() / max(old.total(), new.total())) if old else None)


def test_equal_data_have_no_change_and_no_chart_of_changes():
    data = visits("a1 b2", "a1")
    score = run(data, data)
    assert score.value == 0
    assert len(score.charts) == 1


@pytest.mark.parametrize("nothing", [visits(), visits("", "")])
def test_nothing(nothing):
    score = run(visits("a1"), nothing)
    assert score.value == 1
    assert score.measured["largest_error"] == 1
    assert len(score.charts) == 2
    assert score.charts[1].title == "The largest change"
    assert run(nothing, visits("a1")).charts == ()
    empty = run(nothing, nothing)
    assert (empty.value, empty.charts, empty.measured["mean_error"]) == (None, (), None)


def test_times_that_cannot_be_compared_and_bad_parameters():
    with pytest.raises(InputError, match="place_hours: the times"):
        run(visits("a1", time_format="utc"), visits("a1"))
    with pytest.raises(ParameterError, match="place_hours: top must be"):
        PlaceHours(top=0)
