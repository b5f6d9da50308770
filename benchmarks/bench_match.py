"""How many roads map matching gets right, and how long it takes.

    python benchmarks/bench_match.py oldenburg --network FOLDER/OL
    python benchmarks/bench_match.py grid [--network FILE] [--spread 1.25]
    python benchmarks/bench_match.py oberfranken --tracks FOLDER
    python benchmarks/bench_match.py lines --tracks FOLDER --out recipes/oberfranken-network.csv

`oldenburg` reads FOLDER/OL.cnode.txt and FOLDER/OL.cedge.txt, all two-way streets, and makes trips through three random
nodes, each along a shortest way for lengths that are multiplied by random numbers from 0.5 to 2, so that people do not
drive the shortest way.  They drive 12 units of the map per second, a unit taken for a metre, with a point every few
seconds and normal noise on x and on y.

`grid` makes such trips on any network that Wayveil reads (OpenStreetMap, a table of roads, FOLDER/OL), or without one
on a generated town, and matches points every 1, 5, 10 and 30 s with a noise of 5, 10 and 20 m twice: told a
noise of 10 m, and with the defaults, which estimate it.  It prints the shares of matched roads that are true and of the
true length that is found,
whether `match` warned, and the noise that was estimated.  Numbers that lengths are multiplied by go from 1 / spread to
spread.  Trips keep the turn restrictions of the network.

`oberfranken` reads FOLDER/points.csv.gz, real tracks, and FOLDER/ground_truth.csv.gz, the lines that were matched to
them by hand.  The network is made of these lines; roads end where lines meet or end.  Either all roads are two-way
streets, or only the directions exist that somebody drove.  The tracks are matched as they are, and after `clean` at
160 km/h: some points repeat an older position.

`lines` only writes the network of `oberfranken`, with all roads two-way, for ``recipes/oberfranken.toml``.

A road is right if it is in a longest common subsequence of the true and the matched route.  *found* is the share of the
true roads that are right, *true* that of the matched ones; by number, and by length.  *mismatch* is the length that is
missing plus the length that is wrong, over the true length.  The kernels are compiled before the clock starts.
"""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from bench import make_parser, print_cells, print_machine
from wayveil.io import read_network, write_network
from wayveil.model import Frame, Points, RoadNetwork, Routes
from wayveil.model.data.ragged import offsets_of
from wayveil.steps.points.clean import Clean
from wayveil.steps.roads.match import Match

HEADS = ("points", "cut at", "found", "true", "found, length", "true, length", "mismatch", "s per 1,000 points")


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("series", choices=["oldenburg", "grid", "oberfranken", "lines"])
    parser.add_argument(
        "--network", help="oldenburg: the files without .cnode.txt and .cedge.txt; grid: a road network"
    )
    parser.add_argument("--tracks", help="oberfranken: the folder of the two files")
    parser.add_argument("--out", type=Path, help="lines: the file to write")
    parser.add_argument("--trips", type=int, default=300)
    parser.add_argument(
        "--spread", type=float, default=2.0, help="grid: how far ways are from the shortest, at least 1"
    )
    parser.add_argument("--settings", nargs="*", default=[], help="such as noise=5 beta=10")
    options = parser.parse_args()
    if options.series == "lines":
        texts = pl.read_csv(Path(options.tracks, "ground_truth.csv.gz")).sort("id")["WKT"].to_list()
        ends = np.array([vertex for text in texts for line in _vertices(text) for vertex in line])
        write_network(network_of_lines(texts, Frame.for_degrees(ends[:, 0], ends[:, 1]), False)[0], options.out)
        return
    settings = {name: float(value) for name, value in (text.split("=") for text in options.settings)}
    print_machine(settings)
    if options.series == "oldenburg":
        oldenburg(options.network, options.trips, settings)
    elif options.series == "grid":
        grid(options.network, options.trips, options.spread, settings)
    else:
        oberfranken(Path(options.tracks), settings)


def oldenburg(path: str, n_trips: int, settings: dict[str, float]) -> None:
    network = oldenburg_network(path)
    truth, when = make_trips(network, n_trips, np.random.default_rng(1))
    print("| s between points | noise, m | " + " | ".join(HEADS) + " |\n|" + "---|" * (len(HEADS) + 2))
    for period in (5, 15, 30, 60):
        for noise in (0, 5, 10, 20, 40):
            points = drive(network, truth, when, period, noise, np.random.default_rng(2))
            step = Match(**({"noise": max(noise, 5), "radius": max(50, 4 * noise)} | settings))
            print(f"| {period} | {noise} | " + " | ".join(measure(step, points, network, truth)) + " |", flush=True)


def grid(path: str | None, n_trips: int, spread: float, settings: dict[str, float]) -> None:
    network = read_network(path) if path else town(np.random.default_rng(2026))
    truth, when = make_trips(network, n_trips, np.random.default_rng(1107), spread)
    length_m = lengths(network)[[road for trip in truth for road in trip]]
    print(f"{len(network):,} roads, {len(truth)} trips of {length_m.sum() / len(truth) / 1000:.1f} km on average.\n")
    heads = ("true", "found, length", "warned")
    columns = ("s between points", "noise, m", "points", *heads, *(f"auto: {head}" for head in heads), "auto: noise, m")
    print(f"| {' | '.join(columns)} |\n|" + "---|" * len(columns))
    for period in (1, 5, 10, 30):
        for noise in (5, 10, 20):
            points = drive(network, truth, when, period, noise, np.random.default_rng(period * 1000 + noise))
            cells = []
            for step in (Match(**({"noise": 10.0} | settings)), Match(**settings)):
                _, true, found, _, notes = shares(step, points, network, truth)
                warned = "yes" if any(note.startswith("Warning") for note in notes) else "no"
                cells += [f"{true:.1%}", f"{found:.1%}", warned]
            estimate = next((note.split()[-2] for note in notes if "estimated" in note), "-")
            print(f"| {period} | {noise} | {points.n_rows:,} | {' | '.join(cells)} | {estimate} |", flush=True)


def town(rng: np.random.Generator) -> RoadNetwork:
    """Return 40 by 40 crossings about 100 m apart, moved by up to 25 m; a fifth of the streets is missing."""
    side = 40
    number = np.arange(side * side).reshape(side, side)
    one = np.concatenate([number[:, :-1].ravel(), number[:-1].ravel()])
    other = np.concatenate([number[:, 1:].ravel(), number[1:].ravel()])
    kept = rng.random(len(one)) >= 0.2
    one, other = one[kept], other[kept]
    return RoadNetwork(
        roads=tuple(str(i) for i in range(2 * len(one))),
        from_node=np.concatenate([one, other]),
        to_node=np.concatenate([other, one]),
        nodes=tuple(str(i) for i in range(side * side)),
        node_x=100.0 * (number % side).ravel() + rng.uniform(-25, 25, side * side),
        node_y=100.0 * (number // side).ravel() + rng.uniform(-25, 25, side * side),
    )


def oberfranken(folder: Path, settings: dict[str, float]) -> None:
    lines = pl.read_csv(folder / "ground_truth.csv.gz")
    table = pl.read_csv(folder / "points.csv.gz").with_columns(
        xy=pl.col("geometry").str.strip_prefix("POINT (").str.strip_suffix(")").str.split(" "),
        t=pl.col("time").str.to_datetime(time_zone="UTC").dt.epoch("us"),
    )
    table = table.unique(["id", "t"], keep="first").sort("id", "t")
    lon, lat = (table["xy"].list.get(i).cast(pl.Float64).to_numpy() for i in (0, 1))
    frame = Frame.for_degrees(lon, lat)
    x, y = frame.to_metres(lon, lat)
    ids = lines["id"].sort().to_numpy()
    counts = np.bincount(np.searchsorted(ids, table["id"].to_numpy()), minlength=len(ids))
    points = Points(
        offsets=offsets_of(counts), t=table["t"].to_numpy(), x=x, y=y, owner=np.arange(len(ids)), frame=frame,
        time_format="utc",
    )  # fmt: skip
    tidy, _ = Clean(max_speed=160).run(points)
    print("| roads | points | s between points | noise, m | " + " | ".join(HEADS) + " |\n|" + "---|" * (len(HEADS) + 4))
    texts = lines.sort("id")["WKT"].to_list()
    for driven in (True, False):
        network, truth = network_of_lines(texts, frame, driven)
        for used, periods in ((points, (0,)), (tidy, (0, 15, 30, 60))):
            for period in periods:
                sparse = used.where(every(used, period * 1_000_000))
                for noise in (5, 10):
                    step = Match(**({"noise": noise} | settings))
                    cells = [f"{len(network):,} " + ("driven" if driven else "two-way")]
                    cells += ["raw" if used is points else "clean", f"{period or 'all'}", f"{step.noise:g}"]
                    print_cells(cells + measure(step, sparse, network, truth))


def measure(step: Match, points: Points, network: RoadNetwork, truth: list[list[int]]) -> list[str]:
    step.run(points.take(np.arange(2)), network=network)
    begin = time.perf_counter()
    routes, _, source = step.run_with_origin(points, network=network)
    seconds = time.perf_counter() - begin
    found, mismatch = compare(routes, source, network, truth)
    cuts = len(routes) - len(np.unique(source))
    return [
        f"{points.n_rows:,}", str(cuts), *(f"{share:.2%}" for share in found), f"{mismatch:.2%}",
        f"{seconds / points.n_rows * 1000:.3f}",
    ]  # fmt: skip


def shares(step: Match, points: Points, network: RoadNetwork, truth: list[list[int]]) -> tuple:
    """Return the four shares of `compare`, and the notes."""
    routes, notes, source = step.run_with_origin(points, network=network)
    return *compare(routes, source, network, truth)[0], notes


def compare(routes: Routes, source: np.ndarray, network: RoadNetwork, truth: list[list[int]]) -> tuple[tuple, float]:
    """Return what is found and true by number, what is found and true by length, and the mismatch."""
    matched: list[list[int]] = [[] for _ in truth]
    for i, trip in enumerate(source.tolist()):
        matched[trip] += routes.road[routes.offsets[i] : routes.offsets[i + 1]].tolist()
    length = lengths(network)
    right = [common(one, other) for one, other in zip(truth, matched, strict=True)]
    n_right, n_true, n_matched = (sum(map(len, side)) for side in (right, truth, matched))
    m_right, m_true, m_matched = (sum(float(length[r].sum()) for r in side) for side in (right, truth, matched))
    found = (n_right / n_true, n_right / n_matched, m_right / m_true, m_right / m_matched)
    return found, (m_true + m_matched - 2 * m_right) / m_true


def common(one: list[int], other: list[int]) -> list[int]:
    """Return a longest common subsequence."""
    table = np.zeros((len(one) + 1, len(other) + 1), np.int64)
    for i, road in enumerate(one, 1):
        diagonal = table[i - 1, :-1] + (np.array(other, np.int64) == road)
        table[i, 1:] = np.maximum.accumulate(np.maximum(diagonal, table[i - 1, 1:]))
    found, i, j = [], len(one), len(other)
    while i and j:
        if one[i - 1] == other[j - 1]:
            found.append(one[i - 1])
            i, j = i - 1, j - 1
        elif table[i - 1, j] >= table[i, j - 1]:
            i -= 1
        else:
            j -= 1
    return found[::-1]


def lengths(network: RoadNetwork) -> np.ndarray:
    if network.shape is None:
        x, y = network.node_x, network.node_y
        one, other = network.from_node, network.to_node
        return np.hypot(x[one] - x[other], y[one] - y[other])
    piece = np.hypot(np.diff(network.shape_x), np.diff(network.shape_y))
    piece[network.shape[1:-1] - 1] = 0
    return np.add.reduceat(np.append(piece, 0), network.shape[:-1])


def oldenburg_network(path: str) -> RoadNetwork:
    nodes, edges = np.loadtxt(f"{path}.cnode.txt"), np.loadtxt(f"{path}.cedge.txt")
    one, other = edges[:, 1].astype(int), edges[:, 2].astype(int)
    names = [f"{i:.0f}" for i in edges[:, 0]]
    return RoadNetwork(
        roads=(*names, *(f"{name}-back" for name in names)),
        from_node=np.concatenate([one, other]),
        to_node=np.concatenate([other, one]),
        nodes=tuple(f"{i:.0f}" for i in nodes[:, 0]),
        node_x=nodes[:, 1],
        node_y=nodes[:, 2],
    )


def make_trips(
    network: RoadNetwork, n: int, rng: np.random.Generator, spread: float = 2.0
) -> tuple[list[list[int]], list[np.ndarray]]:
    """Return the roads of trips, and the times at which each node of them is passed."""
    length, trips, when = lengths(network), [], []
    best = {}
    for road in np.argsort(-length, kind="stable").tolist():
        best[int(network.from_node[road]), int(network.to_node[road])] = road
    ends = np.array(list(best), np.int64)
    banned: set = set()
    if network.banned_from is not None:
        banned = set(zip(network.banned_from.tolist(), network.banned_to.tolist(), strict=True))
    of_pair = length[list(best.values())]
    while len(trips) < n:
        stops = rng.integers(0, len(network.nodes), 3)
        weight = np.maximum(of_pair, 1e-3) * rng.uniform(1 / spread, spread, len(of_pair))
        ways = csr_matrix((weight, (ends[:, 0], ends[:, 1])), shape=(len(network.nodes),) * 2)
        _, before = dijkstra(ways, indices=stops[:2], return_predecessors=True)
        roads: list[int] = []
        for leg in range(2):
            way, v = [], int(stops[leg + 1])
            while before[leg, v] >= 0:
                way.append(best[int(before[leg, v]), v])
                v = int(before[leg, v])
            roads += way[::-1]
        if len(roads) > 10 and banned.isdisjoint(pairwise(roads)):
            trips.append(roads)
            when.append(np.concatenate([[0], np.cumsum(length[roads])]) / 12)
    return trips, when


def drive(
    network: RoadNetwork, trips: list[list[int]], when: list[np.ndarray], period: int, noise: float,
    rng: np.random.Generator,
) -> Points:  # fmt: skip
    """Return noisy points every `period` seconds; the first and the last are half a road away from the ends."""
    t, x, y = [], [], []
    for roads, times in zip(trips, when, strict=True):
        passed, *places = line(network, roads)
        seen = np.append(np.arange(int(times[1] / 2) + 1, times[-2], period), (times[-2] + times[-1]) / 2)
        t.append(np.unique((seen * 1000).astype(np.int64)))
        for column, values in zip((x, y), places, strict=True):
            column.append(np.interp(t[-1] / 1000, passed / 12, values) + rng.normal(0, noise, len(t[-1])))
    offsets = offsets_of(np.array([len(part) for part in t]))
    columns = {"t": np.concatenate(t), "x": np.concatenate(x), "y": np.concatenate(y)}
    return Points(offsets=offsets, owner=np.arange(len(trips)), frame=network.frame, **columns)


def line(network: RoadNetwork, roads: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the vertices of a trip, and how many metres are driven before each."""
    if network.shape is None:
        nodes = [int(network.from_node[roads[0]]), *network.to_node[roads].tolist()]
        x, y = network.node_x[nodes], network.node_y[nodes]
    else:
        rows = np.concatenate([np.arange(network.shape[road], network.shape[road + 1]) for road in roads])
        x, y = network.shape_x[rows], network.shape_y[rows]
    return np.concatenate([[0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))]), x, y


def every(points: Points, period: int) -> np.ndarray:
    """Return which points are at least `period` after the last one returned, or the last of their trajectory."""
    keep = np.zeros(points.n_rows, np.bool_)
    for begin, end in zip(points.offsets[:-1], points.offsets[1:], strict=True):
        due = None
        for row in range(begin, end):
            if due is None or points.t[row] >= due or row == end - 1:
                keep[row], due = True, points.t[row] + period
    return keep


def network_of_lines(texts: list[str], frame: Frame, driven: bool) -> tuple[RoadNetwork, list[list[int]]]:
    """Return the network of lines given as text, and each line as roads; with `driven` only in their directions."""
    tracks = [_vertices(text) for text in texts]
    whole = {frozenset(pair) for track in tracks for line in track for pair in pairwise(line[1:-1])}
    tracks = [[_extended(line, whole, frame) for line in track] for track in tracks]
    ends = {line[i] for track in tracks for line in track for i in (0, -1)}
    near: dict = {}
    for track in tracks:
        for line in track:
            for one, other in pairwise(line):
                near.setdefault(one, set()).add(other)
                near.setdefault(other, set()).add(one)
    nodes = sorted(v for v in near if len(near[v]) != 2 or v in ends)
    is_node = set(nodes)
    shapes = []
    for v in nodes:
        for w in sorted(near[v]):
            shape = [v, w]
            while shape[-1] not in is_node:
                shape.append(next(u for u in near[shape[-1]] if u != shape[-2]))
            shapes.append(shape)
    if driven:
        way = {pair for track in tracks for line in track for pair in pairwise(line)}
        shapes = [shape for shape in shapes if any(pair in way for pair in pairwise(shape))]
    road_of = {(shape[i], shape[i + 1]): r for r, shape in enumerate(shapes) for i in range(len(shape) - 1)}
    truth = []
    for track in tracks:
        roads = [road_of[pair] for line in track for pair in pairwise(line)]
        truth.append([r for i, r in enumerate(roads) if i == 0 or roads[i - 1] != r])
    code = {v: i for i, v in enumerate(nodes)}
    flat = np.array([v for shape in shapes for v in shape])
    x, y = frame.to_metres(flat[:, 0], flat[:, 1])
    network = RoadNetwork(
        roads=tuple(str(r) for r in range(len(shapes))),
        from_node=np.array([code[shape[0]] for shape in shapes]),
        to_node=np.array([code[shape[-1]] for shape in shapes]),
        nodes=tuple(str(i) for i in range(len(nodes))),
        shape=offsets_of(np.array([len(shape) for shape in shapes])),
        shape_x=x,
        shape_y=y,
        frame=frame,
    )
    return network, truth


def _vertices(text: str) -> list[list[tuple[float, float]]]:
    inside = text.removeprefix("MULTILINESTRING ((").removesuffix("))")
    lines = [[tuple(map(float, v.split())) for v in part.split(",")] for part in inside.split("),(")]
    return [[v for i, v in enumerate(line) if i == 0 or v != line[i - 1]] for line in lines]


def _extended(line: list, whole: set, frame: Frame) -> list:
    """Replace a first or last vertex inside a known piece of road by the end of that piece."""
    for at, inner in ((0, 1), (-1, -2)):
        tip, corner = line[at], line[inner]
        for pair in whole:
            if corner in pair and tip not in pair:
                (far,) = pair - {corner}
                if _is_on(tip, corner, far, frame):
                    line = [far, *line[1:]] if at == 0 else [*line[:-1], far]
                    break
    return line


def _is_on(tip: tuple, one: tuple, other: tuple, frame: Frame) -> bool:
    x, y = frame.to_metres(*np.array([tip, one, other]).T)
    whole, part = np.hypot(x[2] - x[1], y[2] - y[1]), np.hypot(x[0] - x[1], y[0] - y[1])
    rest = np.hypot(x[0] - x[2], y[0] - y[2])
    return bool(part + rest - whole < 0.1)


if __name__ == "__main__":
    main()
