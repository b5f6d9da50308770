"""Errands: the numbers of the presets, habits, workplaces and times as said, and clear errors."""

from __future__ import annotations

import numpy as np
import pytest

from wayveil.errors import ParameterError
from wayveil.model import Stops, Taxonomy, check_parameters, parameters_of, plain
from wayveil.workloads.errands import Errands, _City
from wayveil.workloads.errands_kinds import kinds_of, taxonomy_of

MONDAY = 1_704_067_200
DAY = 86_400


def generate(seed: int = 1, **parameters: object) -> Stops:
    return Errands(**parameters).generate(rng=np.random.default_rng(seed))  # type: ignore[arg-type]


def means(data: Stops) -> tuple[float, float]:
    return data.n_rows / len(data), int(data.sensitive.sum()) / len(data)


@pytest.mark.parametrize(
    ("preset", "trajectories", "people", "stops", "sensitive", "leaves"),
    [
        ("milano", 6_225, 6_225, 5.2, 1.28, 530),
        ("pisa", 7_231, 7_231, 7.1, 1.63, 851),
        ("none", 10_000, 2_000, 6.0, 1.5, 500),
    ],
)
def test_the_presets(preset: str, trajectories: int, people: int, stops: float, sensitive: float, leaves: int) -> None:
    data = generate(preset=preset)
    assert (len(data), data.n_owners, int(data.taxonomy.is_leaf.sum())) == (trajectories, people, leaves)
    assert means(data) == pytest.approx((stops, sensitive), abs=0.06)
    assert data.taxonomy.is_leaf[data.place].all()
    assert (np.diff(data.offsets) >= 1).all()
    assert (data.time_format, data.owners) == ("epoch", "given")


def test_the_taxonomy_of_milano_is_that_of_the_paper() -> None:
    tree = generate(preset="milano", trajectories=1).taxonomy
    inner = np.flatnonzero(~tree.is_leaf)
    above = {tree.nodes[v]: tree.nodes[tree.parent[v]] for v in inner if tree.parent[v] >= 0}
    assert above == {
        "Station": "Place", "Entertainment": "Place", "Restaurant": "Entertainment", "Disco": "Entertainment",
        "Park": "Place", "Health": "Place", "Clinic": "Health", "Hospital": "Health",
    }  # fmt: skip
    assert {tree.nodes[v] for v in inner if tree.sensitive[v]} == {"Health", "Clinic", "Hospital"}
    assert tree.height == 3
    assert "Clinic-001" in tree.nodes


def test_the_taxonomy_of_pisa_is_deeper_and_larger() -> None:
    milano, pisa = (generate(preset=preset, trajectories=1).taxonomy for preset in ("milano", "pisa"))
    assert pisa.height > milano.height
    assert np.count_nonzero(~pisa.is_leaf) > np.count_nonzero(~milano.is_leaf)
    assert 0.1 < pisa.sensitive[pisa.is_leaf].mean() < 0.2


@pytest.mark.parametrize(("depth", "branching", "leaves"), [(2, 2, 2), (3, 4, 100), (5, 3, 81), (4, 8, 1000)])
def test_a_taxonomy_of_any_size(depth: int, branching: int, leaves: int) -> None:
    tree: Taxonomy = generate(trajectories=3, depth=depth, branching=branching, leaves=leaves).taxonomy
    assert (tree.depth[tree.is_leaf] == depth).all()
    assert int(tree.is_leaf.sum()) == leaves
    kinds = np.flatnonzero(~tree.is_leaf)
    children = np.bincount(tree.parent[tree.parent >= 0], minlength=len(tree))
    assert (children[kinds[tree.depth[kinds] < depth - 1]] == branching).all()
    counts = children[kinds[tree.depth[kinds] == depth - 1]]
    assert counts.max() - counts.min() <= 1
    below_root = np.flatnonzero(tree.depth == 1)
    assert int(tree.sensitive[below_root].sum()) == max(1, branching // 4)


def test_depth_or_branching_replace_the_taxonomy_of_a_preset() -> None:
    assert generate(preset="milano", trajectories=3, depth=4).taxonomy.height == 4
    tree = generate(preset="milano", trajectories=3, branching=5).taxonomy
    assert (int(np.count_nonzero(tree.depth == 1)), tree.height, int(tree.is_leaf.sum())) == (5, 3, 530)


def test_what_is_given_goes_before_the_preset() -> None:
    data = generate(preset="pisa", trajectories=3000, people=500, stops=3, sensitive_stops=0.5, leaves=100)
    assert (len(data), data.n_owners, int(data.taxonomy.is_leaf.sum())) == (3000, 500, 100)
    assert means(data) == pytest.approx((3, 0.5), abs=0.1)
    assert np.bincount(data.owner).tolist() == [6] * 500


def test_the_same_seed_gives_the_same_data() -> None:
    one, same, other = generate(3, trajectories=200), generate(3, trajectories=200), generate(4, trajectories=200)
    for column in ("offsets", "place", "t", "t_end", "owner"):
        assert getattr(one, column).tolist() == getattr(same, column).tolist()
    assert one.place.tolist() != other.place.tolist()


def test_popularity_falls_off_with_the_exponent() -> None:
    def top_ten(zipf: float) -> float:
        data = generate(zipf=zipf, trajectories=3000, people=3000, sensitive_stops=0, sensitive_workers=0)
        return float(np.sort(np.bincount(data.place))[::-1][:10].sum() / data.n_rows)

    flat, usual, steep = top_ten(0), top_ten(1), top_ten(2)
    assert flat < 0.1 < 0.25 < usual < 0.5 < steep


def test_habits_repeat() -> None:
    """People with habits go to fewer different places on as many stops."""

    def different(habit: float) -> float:
        data = generate(habit=habit, trajectories=3000, people=100, zipf=0.5)
        person = np.repeat(data.owner, np.diff(data.offsets))
        return len(np.unique(person * len(data.taxonomy) + data.place)) / 100

    assert different(1) < 40 < 80 < different(0)


def test_some_habits_are_stronger() -> None:
    data = generate(habit=1, trajectories=3000, people=100, zipf=0, sensitive_workers=0)
    person = np.repeat(data.owner, np.diff(data.offsets))[data.sensitive]
    often = [np.bincount(data.place[data.sensitive][person == p]) for p in range(100)]
    assert 0.37 < np.mean([counts.max() / counts.sum() for counts in often]) < 0.6


def test_an_area_without_sensitive_places_sends_people_anywhere() -> None:
    tree = taxonomy_of(list(kinds_of("none", "auto", "auto")), 100)
    city = _City(tree, 0, np.random.default_rng(1))
    for kind in (False, True):
        city.first[kind] = np.zeros(city.n_areas + 1, np.int64)
        drawn = city.draw(np.zeros(2000, np.int64), kind, np.random.default_rng(2))
        assert set(drawn.tolist()) == set(np.flatnonzero(city.sensitive == kind).tolist())


def test_people_live_somewhere() -> None:
    """Two habits of a person are nearer to each other than those of two people: they share an area more often."""
    data = generate(habit=1, trajectories=2000, people=1000, zipf=0)
    person = np.repeat(data.owner, np.diff(data.offsets))
    pairs = {(p, q) for p, q in zip(person.tolist(), data.place.tolist(), strict=True)}
    together: dict[tuple[int, int], int] = {}
    places: dict[int, list[int]] = {}
    for p, q in pairs:
        places.setdefault(p, []).append(q)
    for found in places.values():
        for a in found:
            for b in found:
                if a < b:
                    together[a, b] = together.get((a, b), 0) + 1
    often = np.array(list(together.values()))
    # By chance alone, pairs of 500 equally popular places would be seen about once.
    assert np.sort(often)[-500:].mean() > 3 * often.mean()


def test_times_fit_into_days_and_trips_of_a_person_into_different_ones() -> None:
    data = generate(trajectories=4000, people=300, days=10, stops=30)
    first, last = data.offsets[:-1], data.offsets[1:] - 1
    day = (data.t[first] - MONDAY) // DAY
    assert ((data.t_end[last] - MONDAY) // DAY == day).all()
    assert (data.t_end >= data.t).all()
    inside = np.ones(data.n_rows - 1, bool)
    inside[last[:-1]] = False
    assert (data.t[1:] >= data.t_end[:-1])[inside].all()
    assert len(np.unique(data.owner * 1000 + day)) == len(data)
    assert day.min() == 0
    assert day.max() == 13  # 14 trips of a person need 14 days
    assert generate(trajectories=1000, people=1000, days=10).t.max() < MONDAY + 10 * DAY


def test_work_is_long_on_weekdays_and_at_one_place() -> None:
    data = generate(trajectories=10_000, people=500, days=60)
    person = np.repeat(data.owner, np.diff(data.offsets))
    long = data.t_end - data.t >= 3 * 3600
    weekday = (data.t - MONDAY) // DAY % 7 < 5
    assert long.any()
    assert weekday[long].all()
    assert np.isin(np.flatnonzero(long), data.offsets[:-1]).all()
    trips_on_weekdays = weekday[data.offsets[:-1]].sum()
    assert 0.5 < long.sum() / trips_on_weekdays < 0.7
    at = np.unique(np.stack([person[long], data.place[long]]), axis=1)
    assert len(np.unique(at[0])) == at.shape[1]


@pytest.mark.parametrize("share", [0, 0.1, 1])
def test_the_share_of_those_who_work_at_a_sensitive_place(share: float) -> None:
    data = generate(trajectories=20_000, people=1000, days=60, sensitive_workers=share)
    person = np.repeat(data.owner, np.diff(data.offsets))
    work = data.t_end - data.t >= 3 * 3600
    assert len(np.unique(person[work & data.sensitive])) == 1000 * share
    assert means(data)[1] == pytest.approx(1.5, abs=0.06)


def test_the_mean_of_sensitive_stops_at_its_limits() -> None:
    everything = generate(stops=3, sensitive_stops=3, trajectories=2000, sensitive_workers=0)
    assert means(everything)[1] == pytest.approx(3, abs=0.1)
    assert everything.sensitive.mean() > 0.97
    nothing = generate(sensitive_stops=0, sensitive_workers=0, trajectories=500)
    assert not nothing.sensitive.any()
    only_work = generate(sensitive_stops=0, sensitive_workers=1, trajectories=500)
    assert (only_work.t_end - only_work.t)[only_work.sensitive].min() >= 3 * 3600


def test_nobody_stops_twice_in_a_row_at_a_place() -> None:
    data = generate(trajectories=2000, leaves=20, zipf=1)
    inside = np.ones(data.n_rows - 1, bool)
    inside[data.offsets[1:-1] - 1] = False
    assert not (data.place[1:] == data.place[:-1])[inside].any()


def test_the_smallest_cities() -> None:
    one = generate(trajectories=1, leaves=2, depth=2, branching=2, stops=1, sensitive_stops=0, sensitive_workers=0)
    assert (len(one), one.n_rows) == (1, 1)
    two = generate(trajectories=50, leaves=2, depth=2, branching=2, stops=4, sensitive_stops=2)
    assert set(two.place.tolist()) == {3, 4}
    assert generate(trajectories=7, people=3, zipf=0).n_owners == 3


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"preset": "roma"}, "preset must be one of none, milano, pisa"),
        ({"trajectories": 0}, "trajectories must be an integer from 1 to .* or 'auto', got 0"),
        ({"trajectories": 5, "people": 6}, "people must not be more than the 5 trajectories, got 6"),
        ({"stops": 2, "sensitive_stops": 2.5}, "sensitive_stops must not be more than stops, got 2.5 of 2"),
        ({"stops": 1}, "sensitive_stops must not be more than stops, got 1.5 of 1"),
        ({"trajectories": 10_000_000, "stops": 100}, "more than 200,000,000 stops"),
        ({"leaves": 15}, "leaves must be at least 16, one for every kind of the taxonomy, got 15"),
        ({"preset": "milano", "leaves": 5}, "leaves must be at least 6"),
        ({"depth": 20, "branching": 9}, "more than 1,000,000 kinds, got 20 and 9"),
    ],
)
def test_errors(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Errands(**parameters)  # type: ignore[arg-type]


def test_a_configuration_survives_being_written_down() -> None:
    one = Errands(preset="pisa", stops=4)
    again = Errands(**{p.name: plain(getattr(one, p.name)) for p in parameters_of(Errands)})
    check_parameters(again, "errands")
    assert again == one
