"""Synthetic trips: what is asked of the data, what it costs, and what never depends on one person."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wayveil.cli import main
from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError, UsageError
from wayveil.methods import Synth
from wayveil.methods.synth.adaptive_grid import FINEST, refine_grid
from wayveil.methods.synth.noisy_model import Budget, fit_total
from wayveil.methods.synth.person_shares import ONE_PERSON, share_trips
from wayveil.methods.synth.start_times import keep_largest
from wayveil.model import Frame, Points, Trips, Visits
from wayveil.recipe.recipe import make_recipe
from wayveil.verifiers import VERIFIERS

pytest.importorskip("opendp")

GOLDEN = json.loads((Path(__file__).parents[2] / "golden/synth/examples.json").read_text())
ENGINE = LocalEngine(workers=1)


def run(method: Synth, data: Any, seed: int = 1) -> Any:
    return method.run(data, rng=np.random.default_rng(seed), engine=ENGINE)


STOPS = {"all": ["home", "park", "work"]}


def commuters(n: int = 400) -> Visits:
    """Return people who go from home to work and back, some by the park."""
    ways = [[("home", 8), ("work", 9), ("home", 17)], [("home", 8), ("park", 10)], [("work", 12), ("park", 13)]]
    return Visits.from_records([ways[i % 3] for i in range(n)])


def drivers(n: int = 300, frame: Frame | None = None) -> Points:
    rng = np.random.default_rng(5)
    records = []
    for i in range(n):
        begin, end = rng.random(2) * 4000, rng.random(2) * 1000 + 2500
        records.append([(60 * i + 10 * j, *(begin + (end - begin) * j / 9)) for j in range(10)])
    return Points.from_records(records, time_format="epoch", frame=frame)


@pytest.mark.parametrize("case", GOLDEN["shares"])
def test_a_person_counts_as_one(case: dict[str, Any]) -> None:
    owner = np.array(case["owners"])
    shares = share_trips(owner, np.ones(len(owner), np.bool_), case["trips_per_person"])
    assert shares.tolist() == case["parts"]
    assert all(shares[owner == person].sum() <= ONE_PERSON for person in set(case["owners"]))


@pytest.mark.parametrize("case", GOLDEN["totals"])
def test_noisy_numbers_are_brought_to_their_total(case: dict[str, Any]) -> None:
    assert fit_total(np.array(case["noisy"], float), case["total"]).tolist() == case["fitted"]


def test_fitted_numbers_are_the_nearest_ones() -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        noisy = rng.normal(0, 3, int(rng.integers(1, 6)))
        total = float(rng.uniform(0.1, 9))
        fitted = fit_total(noisy, total)
        assert fitted.min() >= 0
        assert abs(fitted.sum() - total) < 1e-9
        others = rng.dirichlet(np.ones(len(noisy)), 50) * total
        assert (((others - noisy) ** 2).sum(axis=1) >= ((fitted - noisy) ** 2).sum() - 1e-9).all()


def spy(monkeypatch: pytest.MonkeyPatch, seen: list[tuple[str, np.ndarray]]) -> None:
    histogram, select = Budget.histogram, Budget.select

    def asked(self: Budget, name: str, counts: str, values: Any, epsilon: Fraction) -> Any:
        seen.append((name, values.copy()))
        return histogram(self, name, counts, values, epsilon)

    def chosen(self: Budget, name: str, counts: str, values: Any, **more: Any) -> Any:
        seen.append((name, values.copy()))
        return select(self, name, counts, values, **more)

    monkeypatch.setattr(Budget, "histogram", asked)
    monkeypatch.setattr(Budget, "select", chosen)


@pytest.mark.parametrize("trips", [1, 3, 40])
def test_one_person_changes_each_histogram_of_visits_by_one_person_at_most(
    monkeypatch: pytest.MonkeyPatch, trips: int
) -> None:
    base = [[("a", 8), ("b", 9), ("c", 10)], [("b", 8), ("a", 30)], [("c", 50), ("a", 52), ("b", 53), ("a", 60)]] * 30
    owner = list(range(len(base)))
    extra = [[("c", 3 + i), ("b", 5 + i), ("c", 9 + i), ("a", 20 + i)] for i in range(trips)]
    both = []
    for records, owners in ((base, owner), (base + extra, owner + [999] * trips)):
        seen: list[tuple[str, np.ndarray]] = []
        with monkeypatch.context() as patch:
            spy(patch, seen)
            data = Visits.from_records(records, owner=owners)
            run(
                Synth(
                    epsilon=40,
                    delta=0.0,
                    public_places={"all": ["a", "b", "c"]},
                    days="0..4",
                    trips=5,
                    trips_per_person=2,
                ),
                data,
            )
        both.append(dict(seen))
    for name in both[0].keys() & both[1].keys():
        if name == "next-after-two":  # its keys follow from noise
            continue
        assert 0 < np.abs(both[1][name] - both[0][name]).sum() <= ONE_PERSON, name


def test_one_person_changes_each_histogram_of_points_by_one_person_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    base = drivers(120)
    extra = [[(10 * j + 7 * i, 4000.0 - 300 * j, 200.0 * j) for j in range(12)] for i in range(5)]
    records = [base.record(i) for i in range(len(base))]
    method = Synth(epsilon=40, delta=0.0, days="1970-01-01..1970-01-02", area="0,0,4000,4000", trips=5)
    both = []
    for more, owner in (([], []), (extra, [999] * len(extra))):
        seen: list[tuple[str, np.ndarray]] = []
        with monkeypatch.context() as patch:
            spy(patch, seen)
            # The grid and the zones follow from noise: here they are the same in both runs.
            patch.setattr(
                "wayveil.methods.synth.point_trips.refine_grid", lambda density, most: refine_grid(np.ones((3, 3)), 9)
            )
            patch.setattr("wayveil.methods.synth.point_trips.coarse_side", lambda people, epsilon: (3, 9))
            patch.setattr(
                "wayveil.methods.synth.point_model._cut_zones", lambda grid, weight, most: np.arange(len(grid)) % 3
            )
            owners = [*range(len(records)), *owner]
            data = Points.from_records(records + more, owner=owners, time_format="epoch")
            run(method.for_kind("points"), data)
        both.append(dict(seen))
    assert both[0].keys() == both[1].keys()
    for name in both[0]:
        assert 0 < np.abs(both[1][name] - both[0][name]).sum() <= ONE_PERSON, name


def test_a_person_adds_to_few_keys_that_come_from_the_data() -> None:
    owner = np.array([0] * 6 + [1])
    values = keep_largest(owner, np.array([5, 5, 4, 3, 2, 1, 0]), np.array([1, 1, 1, 1, 1, 1, 1]), 2)
    assert values.tolist() == [1, 1, 0, 0, 0, 2]  # of equal keys the first


@pytest.mark.parametrize("kind", ["visits", "points", "trips"])
def test_all_that_is_spent_is_what_is_claimed(kind: str) -> None:
    data: Any = {"visits": commuters(), "points": drivers()}.get(kind)
    if kind == "trips":
        data = Trips.from_ends([("a", 8, "b", 9), ("b", 10, "a", 12)] * 100)
    days = "0..1" if kind != "points" else "1970-01-01..1970-01-02"
    method = Synth(epsilon=3.3, delta=1e-6, days=days, area="0,0,4000,4000", trips=50).for_kind(kind)
    made = run(method, data)
    spent = sum((Fraction(query.epsilon) for query in made.claim.queries), Fraction(0))
    assert Fraction(3.3) * Fraction(999, 1000) < spent <= Fraction(3.3)
    assert sum((Fraction(query.delta) for query in made.claim.queries), Fraction(0)) <= Fraction(1e-6)
    assert type(made.data) is type(data)
    assert len(made.data) == 50
    assert made.source.tolist() == [-1] * 50
    verdict = VERIFIERS["DifferentialPrivacy"](made.data, made.claim)
    assert verdict.holds
    assert "by construction" in verdict.not_judged[0]


def test_nothing_of_the_model_follows_from_the_seed() -> None:
    method = Synth(epsilon=1, public_places=STOPS, days="0..1")
    sizes = {len(run(method, commuters(), seed=7).data) for _ in range(12)}
    assert len(sizes) > 3  # a noisy count of trips, drawn anew each time


def test_synthetic_visits_are_like_the_data_where_noise_is_small() -> None:
    ways = [[("home", 8), ("work", 9)], [("home", 8), ("park", 10)], [("work", 12), ("park", 13)]]
    data = Visits.from_records([ways[i % 3] for i in range(3000)])
    made = run(Synth(epsilon=50, delta=1e-6, days="0..0", trips=3000), data).data
    found = [tuple(place for place, _ in made.record(i)) for i in range(len(made))]
    for way in ways:
        assert 0.28 < found.count(tuple(place for place, _ in way)) / 3000 < 0.38
    hours = made.t[made.offsets[:-1]] % 24
    assert np.isin(hours, [8, 12]).mean() > 0.95


def test_what_comes_next_depends_on_two_places_where_enough_people_are() -> None:
    ways = [[("a", 1), ("hub", 2), ("x", 3)], [("b", 1), ("hub", 2), ("y", 3)]]
    data = Visits.from_records([ways[i % 2] for i in range(3000)])
    places = ["a", "b", "hub", "x", "y"]
    made = run(Synth(epsilon=40, delta=0.0, public_places={"all": places}, days="0..0", trips=2000), data).data
    found = [tuple(place for place, _ in made.record(i)) for i in range(len(made))]
    right = found.count(("a", "hub", "x")) + found.count(("b", "hub", "y"))
    wrong = found.count(("a", "hub", "y")) + found.count(("b", "hub", "x"))
    assert right > 1800
    assert wrong < 60


def test_synthetic_points_begin_and_end_where_people_do() -> None:
    method = Synth(epsilon=50, delta=0.0, days="1970-01-01..1970-01-01", area="0,0,4000,4000", trips=2000)
    made = run(method.for_kind("points"), drivers(2000)).data
    ends = made.offsets[1:] - 1
    assert ((made.x[ends] > 2200) & (made.x[ends] < 3700) & (made.y[ends] > 2200) & (made.y[ends] < 3700)).mean() > 0.9
    assert made.x.min() >= 0
    assert made.x.max() <= 4000


def test_the_area_is_found_without_its_last_person() -> None:
    data = drivers(2000)
    far = Points.from_records([*(data.record(i) for i in range(len(data))), [(0, 3e6, 3e6), (9, 3e6, 3e6)]])
    made = run(Synth(epsilon=20, days="0..5000", trips=500).for_kind("points"), far).data
    assert made.x.max() < 1e5
    assert np.median(made.x) < 6000


def test_cells_and_neighbours_are_those_of_the_raster() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        grid = refine_grid(rng.random((3, 3)) ** 4, 40)
        raster = grid.cell_of
        found = {(a, b) for a in range(len(grid)) for b in grid.to[grid.first[a] : grid.first[a + 1]].tolist()}
        expected = set()
        for y in range(3 * FINEST):
            for x in range(3 * FINEST):
                for other_y in range(max(0, y - 1), min(3 * FINEST, y + 2)):
                    for other_x in range(max(0, x - 1), min(3 * FINEST, x + 2)):
                        expected.add((int(raster[y, x]), int(raster[other_y, other_x])))
        assert found == {(a, b) for a, b in expected if a != b}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"epsilon": 0}, "epsilon must be larger than 0"),
        ({"epsilon": -1}, "epsilon must be"),
        ({"epsilon": 1, "days": "yesterday"}, "days must be 'select' or the first and the last day"),
        ({"epsilon": 1, "days": "2024-03-05..2024-03-01"}, "the first one first"),
        ({"epsilon": 1, "area": "1,2,3"}, "area must be 'find' or four numbers"),
        ({"epsilon": 1, "area": "3,0,1,1"}, "area must be 'find' or four numbers"),
        ({"epsilon": 1, "delta": 0}, "with delta = 0 no day can be taken from the data"),
        ({"epsilon": 1, "trips": 0}, "trips must be"),
    ],
)
def test_bad_parameters_are_told_in_a_sentence(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        Synth(**given)


def test_what_cannot_be_learned_is_told_in_a_sentence() -> None:
    few = commuters(6)
    with pytest.raises(InputError, match="no place has so many people"):
        run(Synth(epsilon=0.1, days="0..1"), few)
    with pytest.raises(InputError, match="no day has so many people"):
        run(Synth(epsilon=0.1, public_places=STOPS), few)
    with pytest.raises(InputError, match="no place can be taken from the data"):
        run(Synth(epsilon=1, delta=0, days="0..1"), few)
    with pytest.raises(InputError, match="too few people to find the area"):
        run(Synth(epsilon=0.01, days="1970-01-01..1970-01-02").for_kind("points"), drivers(20))
    with pytest.raises(InputError, match="days must be numbers"):
        run(Synth(epsilon=1, days="2024-01-01..2024-01-02", public_places=STOPS), few)
    kept = {"input": {"path": "in.csv"}, "output": {"path": "out", "keep": ["ill"]}}
    with pytest.raises(UsageError, match="synthetic trips have no attributes"):
        make_recipe({**kept, "method": {"name": "synth", "epsilon": 1}})


def test_from_the_command_line_to_verify(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = ["traj_id,user_id,t,location"]
    for i in range(600):
        rows += [f"CARD{i},PERSON{i // 2},{8 + i % 3},{'ab'[i % 2]}", f"CARD{i},PERSON{i // 2},{12 + i % 5},c"]
    table = tmp_path / "in.csv"
    table.write_text("\n".join(rows) + "\n")
    out = tmp_path / "out"
    options = ["--epsilon", "8", "--public-places", "all=a,b,c", "--days", "0..0", "--out", str(out), "--format", "csv"]
    assert main(["publish", "synth", str(table), *options]) == 0
    told = capsys.readouterr().out
    assert "Differential privacy with epsilon = 8" in told
    assert "Left:" not in told
    everything = b"".join(path.read_bytes() for path in (out / "public").iterdir())
    assert b"CARD" not in everything
    assert b"PERSON" not in everything
    assert main(["verify", str(out)]) == 3
    assert "by construction" in capsys.readouterr().out
    assert main(["verify", str(out), "--original", str(table)]) == 0
    # No number of the input is public: neither of its rows, nor of its trips and people.
    manifest = json.loads((out / "public/manifest.json").read_text())
    text = json.dumps({key: value for key, value in manifest.items() if key not in ("rows", "trajectories", "files")})
    assert not any(f" {number}," in text for number in (1200, 600, 300))


def test_a_result_far_from_the_data_is_not_called_good(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = ["traj_id,user_id,t,location"]
    for i in range(40):
        rows += [f"{i},{i},{i % 24},p{i % 20}", f"{i},{i},{24 + i % 7},p{(7 * i) % 20}"]
    table = tmp_path / "in.csv"
    table.write_text("\n".join(rows) + "\n")
    places = "all=" + ",".join(f"p{i}" for i in range(20))
    options = ["--epsilon", "0.2", "--public-places", places, "--days", "0..1", "--out", str(tmp_path / "out")]
    assert main(["publish", "synth", str(table), *options]) == 0
    told = capsys.readouterr().out
    assert "Published and verified, but the synthetic trips are far from the data" in told
    assert "a larger --epsilon" in told


def test_a_public_list_is_the_declared_one_and_never_that_of_the_data() -> None:
    """A place that only one person visits is not named because it is in the data, and a place of nobody may be."""
    records = [[("home", 8), ("work", 9)]] * 200 + [[("hideout", 8), ("work", 9)]]
    method = Synth(epsilon=5, delta=0.0, public_places={"all": ["work", "home", "quay"]}, days="0..0", trips=500)
    made = run(method, Visits.from_records(records))
    assert made.data.locations == ("home", "quay", "work")
    assert made.claim.zones == ("home", "quay", "work")
    one_less = run(method, Visits.from_records(records[:-1]))
    for one, other in ((made, one_less), (one_less, made)):  # the keys after two places follow from noise
        keys = {query.name: query.keys for query in one.claim.queries if query.name != "next-after-two"}
        assert keys.items() <= {query.name: query.keys for query in other.claim.queries}.items()


def test_people_and_trips_without_visits_count_for_nothing() -> None:
    """The last trips are empty, one of them of somebody who has no other."""
    records = [[("home", 8), ("work", 9)]] * 60 + [[], []]
    data = Visits.from_records(records, owner=[*range(60), 3, 99])
    for more in ({"public_places": STOPS}, {}):
        made = run(Synth(epsilon=30, days="0..0", trips=40, **more), data)
        assert len(made.data) == 40
