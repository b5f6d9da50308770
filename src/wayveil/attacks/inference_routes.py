"""Who can be followed with a map where routes part or meet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from wayveil.attacks.shared import OnRoutes
from wayveil.model import AttackResult, Engine, Routes, parameter
from wayveil.model.ragged import trajectory_of_row

__all__ = ["InferenceRoutes"]

_PAIR = ["slice", "i", "j"]


@dataclass(frozen=True, kw_only=True)
class InferenceRoutes(OnRoutes):
    """Find the few who part from many at an intersection, or join them: a map tells where they went.

    Take a slice of time, a road i that leads to an intersection and a road j that leads away from it, each with
    trajectories of at least `k` people.  If the trajectories on i that do not go on to j are those of at least one and
    fewer than `k` people, then these few left by a road that is not published as theirs, and whoever has a map and
    knows one of them can tell by which.  The same for trajectories on j that do not come from i.

    Parameters
    ----------
    k : int, >= 2
        The smallest number of people who are not few.

    Notes
    -----
    Nothing is drawn.  People are distinct owners; where these are withheld, trajectories.  Dummies are nobody.  Time
    and memory are O(rows * degree of the network).

    References
    ----------
    Gurung, Lin, Jiang, Hurson, Zhang: Traffic information publication with privacy preservation.  ACM Transactions on
    Intelligent Systems and Technology 5 (2014), Definition 2.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> from wayveil.model import RoadNetwork
    >>> network = RoadNetwork.from_roads([("AB", "A", "B"), ("BC", "B", "C")])
    >>> data = Routes.from_records([["AB", "BC"]] * 3 + [["AB"]], network=network)
    >>> found = InferenceRoutes(k=3).run(data, data, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine())
    >>> found.measured["intersections"], found.measured["exposed_people_share"]
    (1, 0.25)
    """

    k: int = parameter(kind="int", low=2, default=5, help="smallest number of people who are not few")

    name: ClassVar[str] = "inference_routes"
    summary: ClassVar[str] = "an attacker with a map who follows the few that part from many, or join them"

    def run(
        self,
        truth: Routes,
        target: Routes,
        *,
        sensitive: Mapping[str, Iterable[str]],
        rng: np.random.Generator,
        engine: Engine,
    ) -> AttackResult:
        rows = _rows(target)
        passing = rows.select("slice", "trajectory", i="road", node="to").join(
            rows.select("slice", "trajectory", j="road", node="from"), on=["slice", "trajectory", "node"]
        )
        many = (
            rows.filter(pl.col("person") >= 0)
            .group_by("slice", "road")
            .agg(people=pl.col("person").n_unique())
            .filter(pl.col("people") >= self.k)
            .select("slice", "road")
        )
        pairs = (
            passing.select(*_PAIR, "node")
            .unique()
            .join(many.rename({"road": "i"}), on=["slice", "i"], how="semi")
            .join(many.rename({"road": "j"}), on=["slice", "j"], how="semi")
        )
        few = pl.concat([self._few(rows, passing, pairs, road) for road in ("i", "j")])
        people = int(rows.filter(pl.col("person") >= 0)["person"].n_unique())
        return AttackResult(
            name=self.name,
            adversary="has a map, and follows the few who part from many at an intersection, or join them there",
            victims=people,
            sampled=False,
            measured={
                "intersections": few.select("slice", "node").unique().height,
                "pairs_of_roads": few.select(*_PAIR, "side").unique().height,
                "exposed_people": int(few["person"].n_unique()),
                "exposed_people_share": few["person"].n_unique() / people if people else None,
            },
        )

    def _few(self, rows: pl.DataFrame, passing: pl.DataFrame, pairs: pl.DataFrame, road: str) -> pl.DataFrame:
        """Return the people on one road of a pair but not on the other, where they are few."""
        on = rows.select("slice", "trajectory", "person", pl.col("road").alias(road))
        others = (
            pairs.join(on, on=["slice", road])
            .join(passing, on=["slice", "trajectory", "i", "j"], how="anti")
            .filter(pl.col("person") >= 0)
        )
        alone = others.group_by(_PAIR).agg(few=pl.col("person").n_unique()).filter(pl.col("few") < self.k)
        return others.join(alone, on=_PAIR, how="semi").select(*_PAIR, "node", "person").with_columns(side=pl.lit(road))


def _rows(data: Routes) -> pl.DataFrame:
    """Return the roads of each trajectory once, with its slice, its person and the ends of the road."""
    trajectory = trajectory_of_row(data.offsets)
    slices = np.unique(np.stack([data.t_start, data.t_end], axis=1), axis=0, return_inverse=True)[1].reshape(-1)
    person = np.arange(len(data)) if data.owners == "hidden" else data.owner
    return pl.DataFrame(
        {
            "slice": slices.astype(np.int64)[trajectory],
            "trajectory": trajectory,
            "person": person[trajectory],
            "road": data.road,
            "from": data.network.from_node[data.road],
            "to": data.network.to_node[data.road],
        }
    ).unique()
