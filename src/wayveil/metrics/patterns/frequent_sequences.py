"""Whether what many have in common is still there: frequent sequences of visits, before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.attacks.visit_matching import doublet_codes
from wayveil.kernels.frequent.maximal_sequences import mine_maximal_within, most_frequent, sequence_supports
from wayveil.metrics.metric_base import OnVisits
from wayveil.metrics.stats import paired_bars
from wayveil.metrics.visits.aligned import aligned_locations, check_times, time_label
from wayveil.model import Chart, Number, Score, Visits, parameter
from wayveil.model.numbers import count, relative, share

__all__ = ["FrequentSequences"]

Array = NDArray[Any]

_SHOWN = 12
_LONGEST_NAME = 16
_MOST_STEPS = 200_000_000  # a second or two of mining, and more for more data
_STEPS_PER_VISIT = 30


@dataclass(frozen=True, kw_only=True)
class FrequentSequences(OnVisits):
    """Which sequences of visits that many trajectories share are still shared by many in the published data.

    A sequence is a set of visits (place and time); its support is the number of trajectories that have them all.  A
    sequence is frequent with a support of at least `min_support`, and maximal (an MFS) if no longer sequence that
    contains it is frequent.  The headline is the share of the original's MFS that are no longer frequent.

    Parameters
    ----------
    min_support : int, >= 1, or "auto"
        Support from which a sequence is frequent; "auto" is 1 % of the original trajectories, and at least 2.
    top : int, 1 to 1000
        Number of the most frequent sequences of two visits or more that are compared.

    Notes
    -----
    Where the data hold too many frequent sequences to list them, `min_support` is doubled until they can be listed;
    `measured["min_support"]` is what was used.  What is not defined, as there is no MFS, is None.

    Chen et al. (2013), section 5, compare the numbers of MFS, which is `mfs_count_loss`.  It can be 0 although
    sequences were lost, and below 0: an MFS that is lost can leave several shorter ones behind.

    References
    ----------
    R. Chen, B. C. M. Fung, N. Mohammed, B. C. Desai, K. Wang: Privacy-preserving trajectory data publishing by local
    suppression. Information Sciences 231 (2013).

    Examples
    --------
    >>> before = Visits.from_records([[("a", 1), ("b", 2)], [("a", 1), ("b", 2)], [("c", 1)], [("c", 1)]])
    >>> after = Visits.from_records([[("a", 1), ("b", 2)], [("b", 2)], [("c", 1)], [("c", 1)]])
    >>> score = FrequentSequences(min_support=2).run(before, after)
    >>> score.value, score.measured["mfs_count_loss"]
    (0.5, 0.0)
    """

    min_support: int | str = parameter(
        kind="int", low=1, choices=("auto",), default="auto",
        help="trajectories that share a frequent sequence; auto: 1 % of all, at least 2",
    )  # fmt: skip
    top: int = parameter(
        kind="int", low=1, high=1000, default=20, help="number of most frequent sequences that are compared"
    )

    name: ClassVar[str] = "frequent_sequences"
    summary: ClassVar[str] = "sequences of visits that many share, before and after"
    timed: ClassVar[bool] = True

    def count(self, original: Visits, published: Visits) -> Mapping[str, Any]:
        """Return the frequent sequences of both, and the supports of the original's in the published data."""
        check_times(self.name, original, published)
        names, codes = aligned_locations(original, published)
        # Visits of both tables as codes of (place, time), numbered together.
        location = np.concatenate([original.location.astype(np.int64), codes])
        t = np.concatenate([original.t, published.t])
        doublet, n = doublet_codes(location, t)
        before = _Table(original, doublet[: original.n_visits].copy(), n)
        after = _Table(published, doublet[original.n_visits :].copy(), n)
        # One percent of the trajectories, rounded up, and two at least: one trajectory shares nothing.
        min_support = self.min_support if isinstance(self.min_support, int) else max(2, -(-len(original) // 100))
        used, old, new = _mine_both(before, after, min_support)
        top = most_frequent(*before.columns, self.top)
        return {
            "support": used,
            "before": old,
            "after": new,
            "before_now": after.supports(old),
            "top": top,
            "top_now": after.supports(top),
            "top_bar": after.bar(self.top),
            "top_labels": _labels(top, doublet, location, t, names, original),
        }

    def score(self, counts: Mapping[str, Any]) -> Score:
        used, old, new, now = (counts[name] for name in ("support", "before", "after", "before_now"))
        top = counts["top"]
        top_now = counts["top_now"]
        lost = _mean(now < used)
        return Score(
            name=self.name,
            meaning="share of the maximal frequent sequences of the original that are no longer frequent",
            value=lost,
            better="lower",
            unit="share",
            numbers={
                "min_support": count(used, "Smallest support"),
                "mfs_before": count(len(old[2]), "Maximal sequences before", "sequences"),
                "mfs_after": count(len(new[2]), "Maximal sequences after", "sequences"),
                "longest_before": count(int(np.diff(old[0]).max(initial=0)), "Longest before", "visits"),
                "longest_after": count(int(np.diff(new[0]).max(initial=0)), "Longest after", "visits"),
                "mfs_loss": share(lost, "Share of maximal sequences lost"),
                "mfs_count_loss": relative(
                    (len(old[2]) - len(new[2])) / len(old[2]) if len(old[2]) else None,
                    "Change of the number of maximal sequences, as a loss",
                ),
                **_agreement(_listed(old), _listed(new)),
                "mean_relative_error": relative(_mean(np.abs(now - old[2]) / old[2]), "Mean relative error"),
                f"top_{self.top}_overlap": share(
                    _mean(top_now >= counts["top_bar"]), f"Share of the {self.top} most frequent that stay frequent"
                ),
            },
            charts=_charts(counts["top_labels"], top[2], top_now),
        )


class _Table:
    """Trajectories as the kernels take them: each is its own owner, as owners are not published."""

    def __init__(self, data: Visits, items: Array, n_items: int) -> None:
        self.columns = data.offsets.astype(np.int64), items, np.arange(len(data)), n_items

    def mine(self, min_support: int, most_steps: int) -> tuple[Array, Array, Array] | None:
        return mine_maximal_within(*self.columns, min_support, most_steps)

    def supports(self, sequences: tuple[Array, Array, Array]) -> Array:
        return sequence_supports(*self.columns, sequences[0], sequences[1])

    def bar(self, top: int) -> int:
        """Return the smallest support that is among the `top` largest of sequences of two visits or more."""
        supports = most_frequent(*self.columns, top)[2]
        return int(supports[-1]) if len(supports) else 1


def _mine_both(
    before: _Table, after: _Table, min_support: int
) -> tuple[int, tuple[Array, Array, Array], tuple[Array, Array, Array]]:
    """Return the support that was used, and the maximal frequent sequences of both; ends as no sequence is in all."""
    most = max(_MOST_STEPS, _STEPS_PER_VISIT * len(before.columns[1]))
    # Where mining takes too long the support is doubled for both sides: they must be compared at the same one.
    while True:
        old = before.mine(min_support, most)
        new = None if old is None else after.mine(min_support, most)
        if old is not None and new is not None:
            return min_support, old, new
        min_support *= 2


def _mean(values: Array) -> float | None:
    return float(values.mean()) if len(values) else None


def _listed(sequences: tuple[Array, Array, Array]) -> list[list[int]]:
    first = sequences[0].tolist()
    item = sequences[1].tolist()
    return [item[first[s] : first[s + 1]] for s in range(len(first) - 1)]


def _agreement(old: list[list[int]], new: list[list[int]]) -> dict[str, Number]:
    """Return precision, recall and F-measure of the new maximal sequences as an answer to the question for the old."""
    both = len({tuple(s) for s in old} & {tuple(s) for s in new})
    return {
        "mfs_precision": share(both / len(new) if new else None, "Precision of maximal sequences"),
        "mfs_recall": share(both / len(old) if old else None, "Recall of maximal sequences"),
        "mfs_f_measure": share(
            2 * both / (len(old) + len(new)) if old or new else None, "F-measure of maximal sequences"
        ),
    }


def _labels(
    top: tuple[Array, Array, Array], doublet: Array, location: Array, t: Array, names: tuple[str, ...], data: Visits
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the first sequences as people read them, in the order of time; and the places and times of each."""
    # A row in which each doublet occurs, to find its place and time again.
    row = np.zeros(int(doublet.max(initial=0)) + 1, np.int64)
    row[doublet] = np.arange(len(doublet))
    full = []
    short = []
    steps = []
    for sequence in _listed(top)[:_SHOWN]:
        rows = sorted(row[sequence].tolist(), key=lambda at: int(t[at]))
        moments = [time_label(int(t[at]), data.time_format) for at in rows]
        places = [names[location[at]] for at in rows]
        parts = [f"{_short(place)} @ {moment}" for place, moment in zip(places, moments, strict=True)]
        # Long sequences are shown by their first two and their last visit.
        short.append(" → ".join(parts if len(parts) <= 4 else [*parts[:2], f"{len(parts) - 3} more", parts[-1]]))
        full.append(" → ".join(f"{place} @ {moment}" for place, moment in zip(places, moments, strict=True)))
        steps.append((*places, *moments))
    return tuple(short if len(set(short)) == len(short) else full), steps


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def _charts(named: tuple[tuple[str, ...], list[tuple[str, ...]]], before: Array, after: Array) -> tuple[Chart, ...]:
    labels, names = named
    n = len(labels)
    if not n:
        return ()
    title = f"The {n} most frequent sequences" if n > 1 else "The most frequent sequence"
    axes: dict[str, str] = {"x_label": "sequence of visits", "y_label": "trajectories"}
    return (paired_bars(title, labels, before[:n], after[:n], **axes, names=names),)
