"""Who can be followed with a map where routes part or meet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from wayveil.attacks.attack_base import OnRoutes
from wayveil.model import AttackResult, Engine, Routes, parameter
from wayveil.model.claims.counting import row_share_parameter, share_value
from wayveil.model.data.distinct import distinct_rows
from wayveil.model.data.ragged import trajectory_of_row
from wayveil.model.lazy_module import lazy_module
from wayveil.model.numbers import count, share

if TYPE_CHECKING:
    import polars as pl
else:
    pl = lazy_module("polars")

__all__ = ["InferenceRoutes"]

_PAIR = ["slice", "i", "j"]


@dataclass(frozen=True, kw_only=True)
class InferenceRoutes(OnRoutes):
    """Find the few who part from many at an intersection, or join them: a map tells where they went.

    Take a slice of time, a road i that leads to an intersection and a road j that leads away from it, each with
    trajectories of at least `k` people.  If the trajectories on i that do not go on to j are those of at least one and
    fewer than `k` people, then these few left by a road that is not published as theirs, and whoever has a map and
    knows one of them can tell by which.  The same for trajectories on j that do not come from i.  Whoever picks one of
    these trajectories instead of a person is right too often if one person owns more than a share `row_share` of them.

    Parameters
    ----------
    k : int, >= 2
        The smallest number of people who are not few.
    row_share : number from 0 to 1, or "1/k"
        The largest share of these trajectories that may be of one person.

    Notes
    -----
    Nothing is drawn.  People are distinct owners; where these are withheld, trajectories.  A dummy counts as one more
    person and its trajectory as one more, because the attacker cannot tell it apart, but nobody is exposed by it.
    Time and memory are O(rows * degree of the network).

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
    row_share: Fraction | str = row_share_parameter()

    name: ClassVar[str] = "inference_routes"
    summary: ClassVar[str] = "an attacker with a map who follows the few that part from many, or join them"

    def queries(self, truth: Routes, *, sensitive: Mapping[str, Iterable[str]], rng: np.random.Generator) -> None:
        """Return nothing: this attacker knows nobody."""

    def match(self, queries: None, target: Routes, *, truth: Any, rng: Any, engine: Engine) -> _Exposed:
        rows = _rows(target)
        passing = rows.select("slice", "trajectory", i="road", node="to").join(
            rows.select("slice", "trajectory", j="road", node="from"), on=["slice", "trajectory", "node"]
        )
        many = (
            rows.group_by("slice", "road")
            .agg(people=pl.col("person").n_unique(), to=pl.col("to").first(), begin=pl.col("from").first())
            .filter(pl.col("people") >= self.k)
        )
        pairs = many.select("slice", i="road", node="to").join(
            many.select("slice", j="road", node="begin"), on=["slice", "node"]
        )
        few = pl.concat([self._few(rows, passing, pairs, road) for road in ("i", "j")])
        return _Exposed(few=few, people=int(rows.filter(pl.col("person") >= 0)["person"].n_unique()))

    def summarize(self, queries: None, matches: _Exposed) -> AttackResult:
        few, people = matches
        exposed = few.filter(pl.col("person") >= 0)["person"].n_unique()
        return AttackResult(
            name=self.name,
            adversary="has a map, and follows the few who part from many at an intersection, or join them there",
            victims=people,
            sampled=False,
            numbers={
                "intersections": count(
                    few.select("slice", "node").unique().height,
                    "Intersections that tell where a few people went",
                    "intersections",
                ),
                "pairs_of_roads": count(
                    few.select(*_PAIR, "side").unique().height, "Pairs of roads that tell it", "pairs"
                ),
                "exposed_people": count(exposed, "People exposed", "people", better="lower"),
                "exposed_people_share": share(
                    exposed / people if people else None,
                    "Share of people exposed",
                    about="inference",
                    statistic="share above",
                    better="lower",
                ),
            },
        )

    def _few(self, rows: pl.DataFrame, passing: pl.DataFrame, pairs: pl.DataFrame, road: str) -> pl.DataFrame:
        """Return those on one road of a pair and not on the other: all of a few, or who owns too many of them."""
        share = share_value(self.row_share, self.k)
        on = rows.select("slice", "trajectory", "person", pl.col("road").alias(road))
        suspects = self._suspects(on, passing, pairs, road)
        others = suspects.join(on, on=["slice", road]).join(passing, on=["slice", "trajectory", "i", "j"], how="anti")
        of_person = others.group_by(*_PAIR, "node", "person").agg(own=pl.len().cast(pl.Int64))
        sizes = of_person.group_by(_PAIR).agg(people=pl.len(), all=pl.col("own").sum())
        exposed = of_person.join(sizes, on=_PAIR).filter(
            (pl.col("people") < self.k)
            | ((pl.col("person") >= 0) & (pl.col("own") * share.denominator > pl.col("all") * share.numerator))
        )
        return exposed.select(*_PAIR, "node", "person").with_columns(side=pl.lit(road))

    def _suspects(self, on: pl.DataFrame, passing: pl.DataFrame, pairs: pl.DataFrame, road: str) -> pl.DataFrame:
        """Return the pairs of roads where those on one road and not on the other may be a few, or one of them too many.

        All others are ruled out by numbers: of n trajectories, of which nobody owns more than m, at least n / m people
        are the owners, and no share is above m / n.
        """
        share = share_value(self.row_share, self.k)
        owned = on.group_by("slice", road, "person").agg(own=pl.len().cast(pl.Int64))
        on_road = owned.group_by("slice", road).agg(all=pl.col("own").sum(), most=pl.col("own").max())
        through = passing.group_by(_PAIR).agg(through=pl.len().cast(pl.Int64))
        left = pl.col("all") - pl.col("through").fill_null(0)
        is_few = left < self.k * pl.col("most")
        is_too_much = pl.col("most") * share.denominator > left * share.numerator
        counted = pairs.join(on_road, on=["slice", road]).join(through, on=_PAIR, how="left")
        return counted.filter((left > 0) & (is_few | is_too_much)).select(*_PAIR, "node")


class _Exposed(NamedTuple):
    """Whoever is one of a few at an intersection, and how many people there are in all."""

    few: pl.DataFrame
    people: int


def _rows(data: Routes) -> pl.DataFrame:
    """Return the roads of each trajectory once, with its slice, its person and the ends of the road.

    A dummy is a negative person of its own.
    """
    trajectory = trajectory_of_row(data.offsets)
    slices = distinct_rows(data.t_start, data.t_end).code
    each = np.arange(len(data))
    person = each if data.owners == "hidden" else np.where(data.owner >= 0, data.owner, -1 - each)
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
