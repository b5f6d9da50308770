"""What the methods on road networks share: slices, frequent roads, parts, and the order of what is published."""

from __future__ import annotations

import numpy as np

from wayveil.engines import LocalEngine
from wayveil.methods.routes.road_parts import Parts, Release, parts_of, publish_slices, published, slices_of
from wayveil.model import Coded, RoadNetwork, Routes, StrictK

NETWORK = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c"), ("cd", "c", "d"), ("ba", "b", "a")])


def routes(records: list[str], **more: object) -> Routes:
    return Routes.from_records([record.split() for record in records], network=NETWORK, **more)  # type: ignore[arg-type]


def as_names(data: Routes, k: int) -> list[tuple[int, str]]:
    (trajectories,) = slices_of(data)
    parts = parts_of(data, trajectories, k)
    names = [
        " ".join(NETWORK.roads[parts.roads[r]] for r in parts.road[parts.offsets[s] : parts.offsets[s + 1]])
        for s in parts.route
    ]
    return list(zip(parts.trajectory.tolist(), names, strict=True))


def test_trajectories_are_cut_at_rare_roads_and_gaps() -> None:
    data = routes(["ab bc cd", "ab bc cd", "ab cd", "ab ba ab"])
    assert as_names(data, 2) == [
        (0, "ab bc cd"), (1, "ab bc cd"), (2, "ab"), (2, "cd"), (3, "ab"), (3, "ab"),
    ]  # fmt: skip
    assert as_names(data, 3) == [(0, "ab"), (0, "cd"), (1, "ab"), (1, "cd"), (2, "ab"), (2, "cd"), (3, "ab"), (3, "ab")]
    assert as_names(data, 5) == []


def test_one_direction_is_one_road() -> None:
    data = routes(["ab", "ab", "ba"])
    assert as_names(data, 2) == [(0, "ab"), (1, "ab")]


def test_a_road_is_frequent_by_people_not_by_trips() -> None:
    data = routes(["ab", "ab", "bc", "bc"], owner=[0, 0, 1, 2])
    assert as_names(data, 2) == [(2, "bc"), (3, "bc")]


def test_routes_of_most_people_come_first_and_people_count_once() -> None:
    data = routes(["ab", "bc", "bc", "ab", "ab", "cd", "cd"], owner=[0, 1, 2, 0, 3, 1, 1])
    (trajectories,) = slices_of(data)
    parts = parts_of(data, trajectories, 1)
    assert parts.roads.tolist() == [0, 1, 2]
    assert parts.people_on.tolist() == [2, 2, 1]
    assert np.diff(parts.owner_first).tolist() == [2, 2, 1]
    assert parts.road.tolist() == [0, 1, 2]
    assert parts.owner.tolist() == [0, 3, 1, 2, 1]
    assert parts.n_people == 4
    assert parts.trajectory.tolist() == [0, 3, 1, 5, 6, 2, 4]
    assert parts.route.tolist() == [0, 0, 1, 2, 2, 1, 0]
    assert len(parts) == 7


def test_what_was_taken_out_is_counted() -> None:
    data = routes(["ab bc", "ab bc cd", "ab ba"])
    (trajectories,) = slices_of(data)
    parts = parts_of(data, trajectories, 2)
    assert (parts.n_roads_removed, parts.n_rows_removed) == (2, 2)
    support_3 = parts_of(data, trajectories, 3)
    assert (support_3.n_roads_removed, support_3.n_rows_removed) == (3, 4)


def test_slices_differ_by_begin_or_end() -> None:
    data = routes(["ab"] * 4, slices=[(0, 5), (0, 9), (5, 9), (0, 5)], owner=[3, 2, 1, 0])
    assert [found.tolist() for found in slices_of(data)] == [[3, 0], [1], [2]]
    assert slices_of(routes([])) == []


def test_slices_come_back_in_the_order_of_trajectories_and_dummies_last() -> None:
    data = routes(["ab", "bc", "cd"], slices=[(5, 9), (0, 5), (5, 9)], owner=[7, 8, 7])
    data = Routes(**{**vars(data), "t": data.t + 2, "attributes": {"kind": Coded.from_values(["x", "y", "z"])}})
    releases = [
        Release(source=np.array([1, -1]), like=np.array([1, 1]), offsets=np.array([0, 1, 2]), road=np.array([1, 1]),
                facts={"parts": 1}),
        Release(source=np.array([2, 0, 2, -1]), like=np.array([2, 0, 2, 0]), offsets=np.array([0, 1, 3, 4, 5]),
                road=np.array([2, 0, 1, 3, 0]), facts={"parts": 3}),
    ]  # fmt: skip
    made = published(data, releases, StrictK(k=2), {"slices": 2})
    assert [made.data.record(i) for i in range(6)] == [["ab", "bc"], ["bc"], ["cd"], ["ba"], ["ab"], ["bc"]]
    assert made.source is not None
    assert made.source.tolist() == [0, 1, 2, 2, -1, -1]
    assert made.data.owner.tolist() == [7, 8, 7, 7, -1, -2]
    assert made.data.t.tolist() == [5, 5, 0, 5, 5, 5, 0]
    assert made.data.t_start.tolist() == [5, 0, 5, 5, 5, 0]
    assert made.data.t_end.tolist() == [9, 5, 9, 9, 9, 5]
    assert made.data.attributes["kind"].values() == ["x", "y", "z", "z", "x", "y"]
    assert made.facts == {"slices": 2, "parts": 4}
    assert made.claim == StrictK(k=2)


def test_slices_of_too_few_trajectories_are_counted_together() -> None:
    data = routes(["ab bc ab", "ab", "ab", "bc", "cd"], slices=[(0, 1), (1, 2), (1, 2), (3, 4), (3, 4)])
    seen = []

    def release(parts: Parts) -> Release:
        seen.append(len(parts))
        return Release(
            source=parts.trajectory, like=parts.trajectory, offsets=np.arange(len(parts) + 1),
            road=parts.roads[parts.road[parts.offsets[parts.route]]],
            facts={"rare roads taken out": parts.n_roads_removed, "rows on rare roads": parts.n_rows_removed,
                   "parts": 5},
        )  # fmt: skip

    made = publish_slices(data, 2, StrictK(k=2), LocalEngine(workers=1), release)
    assert seen == [2, 0]
    assert made.facts == {"slices": 3, "rare roads taken out": 4, "rows on rare roads": 5, "parts": 10}
    assert made.data.t_start.tolist() == [1, 1]
    alone = publish_slices(data.take(np.array([0, 4])), 2, StrictK(k=2), LocalEngine(workers=1), release)
    assert alone.facts == {"slices": 2, "rare roads taken out": 3, "rows on rare roads": 4, "parts": 5}
    assert len(alone.data) == 0


def test_nothing_is_published_of_nothing() -> None:
    made = published(routes([]), [], StrictK(k=2), {})
    assert len(made.data) == 0
    assert made.source is not None
    assert made.source.tolist() == []
