"""Random small publications by every method: what goes in, what is asked, and whether a sentence is broken.

Data are made to hurt: one to six trips per person, one person with many more now and then, ties and duplicates, values
that everybody has or that are missing, and several trips at the same times, over so few places that much looks alike.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from exposed_people import find_exposed
from promises import (
    break_of_attack_graph,
    break_of_breach_bound,
    break_of_csafety,
    break_of_kanonymity,
    break_of_kdelta,
    break_of_wishes,
)

from wayveil.attacks import ATTACKS
from wayveil.engines import LocalEngine
from wayveil.errors import UsageError, WayveilError
from wayveil.methods import METHODS
from wayveil.model import Boxes, MethodResult, Points, RoadNetwork, Routes, Stops, Taxonomy, Verdict, Visits
from wayveil.verifiers import VERIFIERS
from wayveil.verifiers.differential_privacy.definition import find_break_of_differential_privacy
from wayveil.verifiers.kcl.definition import find_break_of_kcl
from wayveil.verifiers.strict_k.definition import find_break_of_strict_k
from wayveil.verifiers.subsequence_k.definition import find_break_of_subsequence_k
from wayveil.verifiers.threshold.definition import find_break_of_threshold

__all__ = ["PROMISES", "Case", "draw_case", "find_break", "shrink"]

ENGINE = LocalEngine(workers=1)

Draw = random.Random


@dataclass(frozen=True, kw_only=True)
class Case:
    """One publication, as it is printed and repeated: the method, its parameters, and data as plain lists.

    `beside` is what the data need besides: values of attributes, declared rows, a network, slices or a taxonomy.
    """

    method: str
    parameters: dict[str, Any]
    records: list[Any]
    owner: list[int]
    beside: dict[str, list[Any]]
    seed: int = 0

    def data(self) -> Any:
        """Return the data as the method takes them."""
        return _BUILDERS[METHODS[self.method].accepts](self)

    def take(self, which: list[int]) -> Case:
        """Return the same with these trajectories only."""
        beside = dict(self.beside)
        for name in ("ill", "job", "slices", "known", "wanted"):
            if name in beside:
                beside[name] = [beside[name][i] for i in which]
        return replace(
            self, records=[self.records[i] for i in which], owner=[self.owner[i] for i in which], beside=beside
        )


def draw_case(method: str, seed: int) -> Case:
    """Return the random publication of a method with this number: always the same one."""
    assert method in _DRAWERS, "a new method needs random data and parameters here, and its claim a promise in PROMISES"
    draw = random.Random(f"{method} {seed}")
    return _DRAWERS[method](draw, method, seed)


def find_break(case: Case) -> str | None:
    """Publish, judge, count and attack; return what is broken, "" if nothing is, None if nothing was published."""
    data = case.data()
    try:
        made = METHODS[case.method](**case.parameters).run(data, rng=np.random.default_rng(case.seed), engine=ENGINE)
    except WayveilError:
        return None  # told in a sentence, and nothing is published
    published: Any = made.data
    if not published.n_rows:
        return None
    if made.source is not None and published.individual and not isinstance(published, Routes):
        # Trajectories were cut into pieces: each is judged against the one that it is of.
        case = case.take(made.source.tolist())
        data = data.take(made.source)
    verdict = _judge(data, made)
    if not verdict.holds:
        return f"verdict: {verdict.reason}"
    found = PROMISES[made.claim.name](case, data, made)
    if found:
        return f"promise: {found}"
    return _attack(case, data, made) or _find_blindness(case, data, made)


def _judge(data: Any, made: MethodResult) -> Verdict:
    """Return the verdict of the verifier, with all that it can be given."""
    claim: Any = made.claim
    more: dict[str, Any] = {"original": data} if claim.about_truth else {}
    more |= {} if made.boxes is None else {"boxes": made.boxes}
    return VERIFIERS[claim.name](made.data, claim, **more)


def _find_blindness(case: Case, data: Any, made: MethodResult) -> str:
    """Change the publication a little, three times; return how verifier and promise differ on it, or ""."""
    if made.source is not None:
        return ""  # routes, which `test_routes_campaign` changes
    draw = random.Random(case.seed)
    for _ in range(3):
        other, original, changed = _change(draw, case, data, made)
        if not changed.data.n_rows:
            continue
        verdict = _judge(original, changed)
        found = PROMISES[made.claim.name](other, original, changed)
        # That of AttackGraph asks for more than the promise: that boxes of declared times are shared.
        differs = verdict.holds if found else not verdict.holds and made.claim.name != "AttackGraph"
        if differs:
            return f"changed: the verifier says {verdict.reason!r}, the promise {found!r}, of {_records(changed.data)}"
    return ""


def _change(draw: Draw, case: Case, data: Any, made: MethodResult) -> tuple[Case, Any, MethodResult]:
    """Return the same with a trajectory or a row less, or with the owner of one trajectory changed for another."""
    published: Any = made.data
    rows = published.offsets.tolist()
    at = draw.choice([i for i in range(len(published)) if rows[i] < rows[i + 1]])
    kind = draw.randrange(3)
    if kind == 0:
        owner = list(case.owner)
        owner[at] = draw.choice([*owner, 99])
        codes = np.array(owner, np.int64)
        boxes = None if made.boxes is None else replace(made.boxes, owner=codes)
        changed = replace(made, data=replace(published, owner=codes), boxes=boxes, groups=None)
        return replace(case, owner=owner), replace(data, owner=codes), changed
    keep = np.ones(published.n_rows, np.bool_)
    one = draw.randrange(rows[at], rows[at + 1])
    # Published numbers of visits must stay 1, 2, 3, ...
    whole = kind == 1 or made.claim.name == "BreachBound"
    keep[slice(rows[at], rows[at + 1]) if whole else slice(one, one + 1)] = False
    boxes = None if made.boxes is None else made.boxes.where(keep)
    return case, data, replace(made, data=published.where(keep), boxes=boxes, groups=None)


def shrink(case: Case, breaks: Callable[[Case], bool]) -> Case:
    """Return a smaller case that breaks too: without trajectories, and then without rows, that are not needed."""
    smaller = True
    while smaller:
        smaller = False
        for other in _smaller(case):
            if breaks(other):
                case, smaller = other, True
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    n = len(case.records)
    for size in sorted({n // 2, n // 4, 2, 1} - {0}, reverse=True):
        for begin in range(0, n, size):
            if size < n:
                yield case.take([i for i in range(n) if not begin <= i < begin + size])
    for i, record in enumerate(case.records):
        for row in range(len(record) if len(record) > 1 else 0):
            beside = dict(case.beside)
            if "known" in beside:
                beside["known"] = [k[:row] + k[row + 1 :] if j == i else k for j, k in enumerate(beside["known"])]
            records = [r[:row] + r[row + 1 :] if j == i else r for j, r in enumerate(case.records)]
            yield replace(case, records=records, beside=beside)


def _attack(case: Case, data: Any, made: MethodResult) -> str:
    """Play every attacker whom the claim says to stop; return what one achieved beyond the bound."""
    claim: Any = made.claim
    sensitive = {name: list(values) for name, values in getattr(claim, "sensitive", ())}
    for protection in claim.protects:
        # How many roads were seen is no part of the sentence on them.
        stronger: list[dict[str, Any]] = [{}]
        if protection.attack == "seen_on_roads":
            stronger += [{"roads": 1}, {"roads": 5}]
        for setting in stronger:
            attack: Any = ATTACKS[protection.attack](**{**dict(protection.settings), **setting})
            seen = made.boxes if made.boxes is not None and Boxes in attack.targets else made.data
            rng = np.random.default_rng(case.seed)
            result = attack.run(data, seen, sensitive=sensitive, rng=rng, engine=ENGINE)
            for name in protection.measured:
                if protection.is_broken_by(result.measured[name]):
                    return f"attack: {protection.sentence}, but {name} is {result.measured[name]}"
    return ""


# --------------------------------------------------------------------------------------------------- what is promised


def _records(data: Any) -> list[Any]:
    return [data.record(i) for i in range(len(data))]


def _kcl(case: Case, data: Visits, made: MethodResult) -> str:
    published: Any = made.data
    claim: Any = made.claim
    records = _records(published)
    if any(not set(record) <= set(true) for record, true in zip(records, _records(data), strict=True)):
        return "a visit is published that is not in the original"
    return find_break_of_kcl(published, claim)


def _breach_bound(case: Case, data: Visits, made: MethodResult) -> str:
    claim: Any = made.claim
    places = [set(listed) for _, listed in claim.adversaries]
    records = _records(made.data)
    shown = [[v[0] for v in record] for record in records]
    if any(not _is_part(part, [v[0] for v in true]) for part, true in zip(shown, _records(data), strict=True)):
        return "a visit is published that is not in the original"
    if claim.times == "order" and any([t for _, t in r] != list(range(1, len(r) + 1)) for r in records):
        return "times are published"
    return break_of_breach_bound(records, case.owner, places, claim.p, with_times=claim.times == "keep")


def _is_part(part: list[Any], whole: list[Any]) -> bool:
    """Whether something is in a list in this order, with others between or not."""
    rest = iter(whole)
    return all(one in rest for one in part)


def _kdelta(case: Case, data: Points, made: MethodResult) -> str:
    claim: Any = made.claim
    found = break_of_kdelta(
        _records(made.data), case.owner, claim.k, claim.delta, claim.owner_share,
        along_one_curve=claim.placement == "random", groups=None if made.groups is None else made.groups.tolist(),
    )  # fmt: skip
    return found or _wishes(case, _records(made.data), claim)


def _wishes(case: Case, shown: list[Any], claim: Any) -> str:
    asked = case.beside["wanted"] if claim.k_column != "none" else [None] * len(shown)
    return break_of_wishes(shown, case.owner, case.records, asked, claim.end_share, claim.destination_cell)


def _kanonymity(case: Case, data: Points, made: MethodResult) -> str:
    claim: Any = made.claim
    boxes = _records(made.data if made.boxes is None else made.boxes)
    points = None if made.boxes is None else _records(made.data)
    found = break_of_kanonymity(boxes, case.owner, _records(data), claim.k, claim.owner_share, points)
    return found or _wishes(case, boxes, claim)


def _attack_graph(case: Case, data: Points, made: MethodResult) -> str:
    claim: Any = made.claim
    known = case.beside.get("known", [[True] * len(record) for record in case.records])
    published: Any = made.data
    marks = [published.declared[published.rows(i)].tolist() for i in range(len(published))]
    return break_of_attack_graph(
        _records(published), case.owner, _records(data), known, claim.k, claim.owner_share, claim.top_speed, marks
    )


def _strict(case: Case, data: Routes, made: MethodResult) -> str:
    claim: Any = made.claim
    published: Any = made.data
    sentence = find_break_of_strict_k(published, claim, original=data)
    if sentence:
        return sentence
    exposed = find_exposed(published, claim.k, claim.owner_share)[2]
    return f"{len(exposed)} people are on inference routes" if exposed else ""


def _shared(case: Case, data: Routes, made: MethodResult) -> str:
    claim: Any = made.claim
    published: Any = made.data
    return find_break_of_subsequence_k(published, claim, original=data)


def _csafety(case: Case, data: Stops, made: MethodResult) -> str:
    claim: Any = made.claim
    return break_of_csafety(
        _records(made.data), case.owner, case.records, dict(case.beside["parents"]), set(case.beside["sensitive"]),
        c=claim.c, m=claim.m, share=claim.owner_share, worst=claim.weights == "worst", least_people=claim.least_people,
    )  # fmt: skip


def _threshold(case: Case, data: Visits, made: MethodResult) -> str:
    published: Any = made.data
    claim: Any = made.claim
    try:
        return find_break_of_threshold(published, claim, original=data)
    except UsageError:  # more tables fit than can be tried
        return ""


def _differential_privacy(case: Case, data: Visits, made: MethodResult) -> str:
    claim: Any = made.claim
    return find_break_of_differential_privacy(made.data, claim)


PROMISES: dict[str, Callable[[Case, Any, MethodResult], str]] = {
    "KCL": _kcl,
    "BreachBound": _breach_bound,
    "KDelta": _kdelta,
    "KAnonymity": _kanonymity,
    "AttackGraph": _attack_graph,
    "StrictK": _strict,
    "SubsequenceK": _shared,
    "CSafety": _csafety,
    "Threshold": _threshold,
    "DifferentialPrivacy": _differential_privacy,
}
"""For each claim the function that says how a publication breaks its promise, or "".  See `promises`."""

# -------------------------------------------------------------------------------------------------------------- data


def _build_visits(case: Case) -> Visits:
    return Visits.from_records(case.records, owner=case.owner, attributes=case.beside)


def _build_points(case: Case) -> Points:
    wanted = {name: case.beside[name] for name in ("wanted",) if name in case.beside}
    data = Points.from_records(case.records, owner=case.owner, attributes=wanted)
    known = case.beside.get("known")
    return data if known is None else replace(data, known=np.array([k for row in known for k in row], np.bool_))


def _build_routes(case: Case) -> Routes:
    network = RoadNetwork.from_roads(case.beside["network"])
    return Routes.from_records(case.records, network=network, owner=case.owner, slices=case.beside["slices"])


def _build_stops(case: Case) -> Stops:
    tree = Taxonomy.from_parents(case.beside["parents"], sensitive=case.beside["sensitive"])
    return Stops.from_records(case.records, taxonomy=tree, owner=case.owner)


_BUILDERS: dict[Any, Callable[[Case], Any]] = {
    Visits: _build_visits,
    Points: _build_points,
    Routes: _build_routes,
    Stops: _build_stops,
}


def _owners(draw: Draw, many: int) -> list[int]:
    """People with one to six trips each, in any order; now and then one of them has up to `many` more."""
    trips = draw.choice([[1], [1, 1, 1, 2], [1, 2, 3, 4, 5, 6], [1, 1, 6]])
    owner = [person for person in range(draw.randint(2, 9)) for _ in range(draw.choice(trips))]
    if draw.random() < 0.25:
        owner += [0] * draw.randint(1, many)
    draw.shuffle(owner)
    return owner


def _share(draw: Draw, usual: str = "1/k") -> Any:
    return draw.choice([usual, usual, usual, Fraction(1, 2), Fraction(2, 3), Fraction(1), Fraction(1, 5)])


def _repeats(draw: Draw, owner: list[int], make: Callable[[], Any]) -> list[Any]:
    """One record for each trajectory: a new one, or one that was there before."""
    records: list[Any] = []
    often = draw.choice([0.2, 0.5, 0.8])
    for _ in owner:
        records.append(draw.choice(records) if records and draw.random() < often else make())
    if draw.random() < 0.1:
        records[draw.randrange(len(records))] = []
    return records


def _values(draw: Draw, owner: list[int], values: list[str | None]) -> list[str | None]:
    """Values of trajectories: everybody's the same, one for each person, or one for each trajectory."""
    kind = draw.random()
    if kind < 0.1:
        return [draw.choice(values)] * len(owner)
    if kind < 0.5:
        of = {person: draw.choice(values) for person in set(owner)}
        return [of[person] for person in owner]
    return [draw.choice(values) for _ in owner]


def _draw_kcl(draw: Draw, method: str, seed: int) -> Case:
    owner = _owners(draw, 30)
    places = "abcd"[: draw.randint(1, 4)]
    times = range(draw.randint(1, 5))
    records = _repeats(draw, owner, lambda: [(draw.choice(places), t) for t in times if draw.random() < 0.7])
    missing = None if draw.random() < 0.3 else "no"
    beside: dict[str, list[Any]] = {
        "ill": _values(draw, owner, ["HIV", "flu", "no", "no", "no", missing]),
        "job": _values(draw, owner, ["spy", "cook", "cook"]),
    }
    asked: dict[str, list[str]] = draw.choice(
        [{}, {"ill": ["HIV"]}, {"ill": ["HIV", "flu"]}, {"ill": ["flu"], "job": ["spy"]}, {"job": ["spy", "cook"]}]
    )
    there = {name: sorted(set(values) & set(beside[name])) for name, values in asked.items()}
    sensitive = {name: values for name, values in there.items() if values}
    k = draw.choice([1, 2, 2, 2, 3, 3, 4])
    parameters: dict[str, Any] = {
        "k": k,
        "c": draw.choice([Fraction(0), Fraction(1, 4), Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(1)]),
        "l": draw.choice([1, 2, 2, 3, 4, "all"]),
        "sensitive": sensitive,
        "row_share": _share(draw),
        "suppression": draw.choice(["local", "local", "global"]),
        "preserve": draw.choice(["instances", "instances", "mfs"]),
        "min_support": draw.choice(["auto", 2, 4]),
        "restore": draw.choice(["yes", "yes", "no"]),
        "improve": draw.choice(["auto", 0, 3]),
        "accept_absence": "yes" if k == 1 else "no",
    }
    return Case(method=method, parameters=parameters, records=records, owner=owner, beside=beside, seed=seed)


def _draw_gsup(draw: Draw, method: str, seed: int) -> Case:
    owner = _owners(draw, 20)
    names = ["a1", "a2", "b1", "b2", "x", "y"]
    places = draw.sample(names, draw.randint(2, 6))

    def trip() -> list[tuple[str, int]]:
        times = sorted(draw.sample(range(8), draw.randint(1, 4)))
        return [(draw.choice(places), t) for t in times]

    records = _repeats(draw, owner, trip)
    there = sorted({place for record in records for place, _ in record})
    groups = [[place for place in there if place[0] == letter] for letter in "ab"]
    adversaries = {f"adversary {i}": group for i, group in enumerate(groups) if group} or {"adversary": there[:1]}
    parameters: dict[str, Any] = {
        "p": draw.choice([Fraction(1, 4), Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(3, 4)]),
        "adversaries": adversaries,
        "mode": draw.choice(["class", "global"]),
        "times": draw.choice(["order", "keep"]),
    }
    return Case(method=method, parameters=parameters, records=records, owner=owner, beside={}, seed=seed)


def _tracks(draw: Draw, owner: list[int], *, together: bool) -> list[Any]:
    """Points on few places, at the same times or not, some of them a little off."""
    span = draw.choice([0, 2, 10, 60])
    length = draw.randint(1, 4)
    off = draw.choice([0.0, 0.0, 0.3])
    origin = draw.choice([0, 0, 0, -7, 500_000.25])

    def track() -> list[tuple[int, float, float]]:
        start = 0 if together else draw.randint(0, 2)
        rows = length if together else draw.randint(1, 4)
        step = 1 if together else draw.choice([1, 1, 2])
        return [
            (start + step * t, *(origin + draw.randint(0, span) + off * draw.random() for _ in "xy"))
            for t in range(rows)
        ]

    return _repeats(draw, owner, track)


def _draw_points(draw: Draw, method: str, seed: int) -> Case:
    owner = _owners(draw, 4)
    records = _tracks(draw, owner, together=draw.random() < 0.6)
    parameters: dict[str, Any] = {"k": draw.choice([2, 2, 3, 4]), "row_share": _share(draw)}
    if method == "knode":
        parameters |= {
            "window": draw.randint(1, 9),
            "variant": draw.choice(["improved", "paper"]),
            "overlap": draw.choice(["or", "and", "x", "y"]),
        }
    elif method == "tga":
        parameters |= {
            "algorithm": draw.choice(["fast", "multi"]),
            "publish": draw.choice(["boxes", "points"]),
            "space_weight": draw.choice([0.0, 1.0, 3.0]),
            "time_weight": draw.choice([0.5, 1.0]),
        }
    else:
        parameters |= {
            "delta": draw.choice([0, 0, 3.0, 20.0, 100.0]),
            "placement": draw.choice(["random", "nearest"]),
            "radius_max": draw.choice(["auto", 1.0, 30.0]),
            "trash_max": draw.choice([Fraction(0), Fraction(1, 10), Fraction(1, 2)]),
        }
    if method == "nwa":
        parameters |= {"pi": draw.choice(["none", "auto", 1, 2]), "center": draw.choice(["mean", "mec"])}
    if method == "w4m":
        parameters |= {
            "distance": draw.choice(["lstd", "edr"]),
            "chunk_size": draw.choice([3, 8, 1000]),
            "pivot": draw.choice(["random", "farthest"]),
            "cap": draw.choice(["auto", 1, 10]),
            "t2s_factor": draw.choice(["auto", 1.0, 10.0]),
        }
    beside: dict[str, list[Any]] = {}
    if parameters.get("delta", 0) == 0 and draw.random() < 0.3:
        beside["wanted"] = _values(draw, owner, [None, None, "", "1", "2", " 3", "4", "6", "99"])
        parameters |= draw.choice([{"k_column": "wanted"}, {}])
        if "k_column" not in parameters or draw.random() < 0.5:
            share = draw.choice([Fraction(1, 3), Fraction(1, 2), Fraction(3, 4)])
            parameters |= {"destination_share": share, "destination_cell": draw.choice([1, 5, 30])}
    return Case(method=method, parameters=parameters, records=records, owner=owner, beside=beside, seed=seed)


def _draw_qid(draw: Draw, method: str, seed: int) -> Case:
    owner = _owners(draw, 6)
    records = _tracks(draw, owner, together=draw.random() < 0.8)
    often = draw.choice([0.2, 0.5, 0.9])
    beside: dict[str, list[Any]] = {}
    if draw.random() < 0.85:
        beside["known"] = [[draw.random() < often for _ in record] for record in records]
    parameters: dict[str, Any] = {
        "k": draw.choice([2, 2, 3, 4]),
        "row_share": _share(draw),
        "cell": draw.choice([0.5, 1, 5, 20, 100]),
        "algorithm": draw.choice(["disjoint", "symmetric", "extreme-union"]),
        "selection": draw.choice(["hilbert", "area", "auto"]),
        "symmetrise": draw.choice(["no", "no", "yes"]),
        "top_speed": draw.choice(["auto", "auto", "none", 5, 30, 100]),
        "guard": draw.choice(["none", "none", "1", "all"]),
    }
    return Case(method=method, parameters=parameters, records=records, owner=owner, beside=beside, seed=seed)


def _draw_routes(draw: Draw, method: str, seed: int) -> Case:
    owner = _owners(draw, 30)
    nodes = draw.randint(2, 4)
    ends = [(draw.randrange(nodes), draw.randrange(nodes)) for _ in range(draw.randint(2, 8))]

    def walk() -> list[str]:
        way = [draw.randrange(len(ends))]
        for _ in range(draw.randint(0, 5)):
            after = [r for r, (begin, _) in enumerate(ends) if begin == ends[way[-1]][1]]
            way.append(draw.choice(after) if after and draw.random() < 0.95 else draw.randrange(len(ends)))
        return [f"r{road}" for road in way]

    beside: dict[str, list[Any]] = {
        "network": [(f"r{i}", f"n{begin}", f"n{end}") for i, (begin, end) in enumerate(ends)],
        "slices": [(9, 18) if draw.random() < 0.3 else (0, 9) for _ in owner],
    }
    parameters: dict[str, Any] = {"k": draw.choice([2, 2, 3, 4]), "row_share": _share(draw)}
    if method == "prefix":
        parameters["reattach"] = draw.choice(["lcs", "prefix"])
    else:
        parameters |= {
            "pad": draw.choice(["no", "yes"]),
            "rho_t": draw.choice([Fraction(0), Fraction(3, 5)]),
            "index": draw.choice(["inverted", "ctree", "none"]),
        }
    if method == "icba":
        parameters |= {"rho_c": draw.choice([0, 3, 100, "auto"])}
    if method == "cba":
        parameters["threshold"] = draw.choice([0.0, 0.6, 5.0])
    records = _repeats(draw, owner, walk)
    return Case(method=method, parameters=parameters, records=records, owner=owner, beside=beside, seed=seed)


def _draw_cast(draw: Draw, method: str, seed: int) -> Case:
    owner = _owners(draw, 15)
    parents = [("Place", ""), ("Shop", "Place"), ("Health", "Place"), ("Clinic", "Health"), ("Hospital", "Health")]
    parents += [(f"{kind}{i}", kind) for kind in ("Shop", "Clinic", "Hospital") for i in range(draw.randint(1, 3))]
    parents += [("Park", "Place"), ("Pharmacy", "Shop")][: draw.randint(0, 2)]
    labels = draw.choice([["Health"], ["Clinic"], ["Clinic0", "Hospital"], ["Health", "Shop0"]])
    inner = {above for _, above in parents}
    leaves = [node for node, _ in parents if node not in inner]
    popular = draw.sample(leaves, draw.randint(1, len(leaves)))
    records = _repeats(draw, owner, lambda: [draw.choice(popular) for _ in range(draw.randint(1, 4))])
    parameters: dict[str, Any] = {
        "c": draw.choice([Fraction(1, 4), Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(1)]),
        "m": draw.choice([2, 2, 3, 4]),
        "row_share": _share(draw, "1/m"),
        "weights": draw.choice(["worst", "worst", "uniform"]),
        "distance": draw.choice(["hops", "leaves"]),
        "place_people": draw.choice(["m", "m", 1, 3]),
        "grouping": draw.choice(["blind", "apart"]),
    }
    if parameters["grouping"] == "blind":
        parameters["alignment"] = draw.choice(["position", "order"])
    beside: dict[str, list[Any]] = {"parents": parents, "sensitive": labels}
    return Case(method=method, parameters=parameters, records=records, owner=owner, beside=beside, seed=seed)


def _draw_counts(draw: Draw, method: str, seed: int) -> Case:
    owner = _owners(draw, 30)
    places = "abc"[: draw.randint(1, 3)]
    times = range(draw.randint(1, 3))
    records = _repeats(draw, owner, lambda: [(draw.choice(places), t) for t in times if draw.random() < 0.7])
    parameters: dict[str, Any] = {
        "k": draw.choice([2, 2, 3, 4]),
        "tally": draw.choice(["zones", "zones", "flows"]),
        "count": draw.choice(["people", "visits"]),
        "every": draw.choice(["as-is", "2"]),
        "margins": draw.choice(["no", "yes", "yes"]),
        "row_share": _share(draw),
    }
    return Case(method=method, parameters=parameters, records=records, owner=owner, beside={}, seed=seed)


def _draw_dp_counts(draw: Draw, method: str, seed: int) -> Case:
    case = _draw_counts(draw, method, seed)
    parameters: dict[str, Any] = {
        "epsilon": draw.choice([0.5, 1, 3, 20]),
        "tally": case.parameters["tally"],
        "count": case.parameters["count"],
        "every": case.parameters["every"],
        "margins": case.parameters["margins"],
        "per_person": draw.choice(["auto", 1, 2, 5]),
    }
    if parameters["count"] == "visits":
        parameters["per_cell"] = draw.choice([1, 3])
    if draw.random() < 0.6:
        parameters |= {"public_zones": {"all": ["a", "b", "x"]}, "public_times": "0..3"}
    return replace(case, parameters=parameters)


def _draw_synth(draw: Draw, method: str, seed: int) -> Case:
    case = _draw_counts(draw, method, seed)
    parameters: dict[str, Any] = {
        "epsilon": draw.choice([0.5, 1, 3, 20]),
        "delta": draw.choice([0.01, 1e-6]),
        "days": draw.choice(["0..0", "0..2", "select"]),
        "trips": draw.choice(["noisy", 1, 20]),
        "trips_per_person": draw.choice([1, 2, 6]),
        "length_max": draw.choice([2, 5]),
    }
    if draw.random() < 0.7:
        parameters["public_places"] = {"all": ["a", "b", "x"]}
    return replace(case, parameters=parameters)


_DRAWERS: dict[str, Callable[[Draw, str, int], Case]] = {
    "kcl": _draw_kcl,
    "gsup": _draw_gsup,
    **dict.fromkeys(("nwa", "w4m", "knode", "tga"), _draw_points),
    "qid": _draw_qid,
    **dict.fromkeys(("icba", "cba", "prefix"), _draw_routes),
    "cast": _draw_cast,
    "counts": _draw_counts,
    "dp_counts": _draw_dp_counts,
    "synth": _draw_synth,
}
