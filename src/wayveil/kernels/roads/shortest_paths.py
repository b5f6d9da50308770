"""Shortest ways from road to road on a directed network, with a bound, for many questions about roads near each other.

Ways are found over roads and not over nodes, so that a turn can be forbidden or have a price: whether somebody may go
from one road into another is a matter of both roads, which a node in between does not remember.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from wayveil.kernels.common.heap import new_heap, pop, push
from wayveil.kernels.common.jit import inner, kernel

__all__ = [
    "Goals",
    "RoadGraph",
    "Search",
    "new_goals",
    "new_search",
    "opposite_roads",
    "road_graph",
    "search",
    "ways_to",
]

RoadGraph = namedtuple("RoadGraph", ["length", "first_turn", "turn_to", "turn_m"])
"""Directed roads and the turns between them; nobody writes to it.

length : float64, one per road
    In metres, at least 0.
first_turn : int64, one per road and one more
    From road r one may go on by the turns ``first_turn[r]:first_turn[r + 1]``.
turn_to : int64, one per turn
    The road that the turn leads into.
turn_m : float64, one per turn
    What the turn costs, as metres of way: 0, or more for turning around.
"""

Search = namedtuple("Search", ["way", "before", "seen", "done", "wanted", "run", "key", "known", "bound"])
"""What searches remember; only `search` and `ways_to` write to it.

way : float64, one per road
    From the end of the source to the beginning of the road, turns included, where ``done`` says that it is known.
before : int64, one per road
    The road before it on that way; -1 where the source itself is.
seen, done, wanted : int64, one per road
    The number of the latest search that came upon the road, knew its way for good, or was asked for it.
run : int64, (1,)
    The number of the latest search.
key, known, bound : int64 and twice float64, one per answer that is remembered
    The pair of roads, the way between them (inf: none), and up to which length it was looked for.
"""

Goals = namedtuple("Goals", ["road", "limit", "way", "asked", "slot"])
"""Several questions from one road, with room for as many as a caller needs.

road : int64
    Where to; the caller writes it.
limit : float64
    How long the way may be at most, negative if it is of no interest; the caller writes it.
way : float64
    The answer, inf where there is none within the limit; `ways_to` writes it.
asked, slot : int64
    Room for `ways_to`.
"""

_REMEMBERED = 1 << 14


def opposite_roads(from_node: Any, to_node: Any, length: Any) -> Any:
    """Return, for each road, the other direction of its street, or -1: a road back that is as long.

    Of several the one with the smallest number.  O(roads + turns) time and memory.
    """
    source, target = _turns(from_node, to_node)
    with np.errstate(invalid="ignore"):
        same_length = np.abs(length[source] - length[target]) <= 1e-6 * (1.0 + length[source])
    around = (to_node[target] == from_node[source]) & (target != source) & same_length
    opposite = np.full(len(from_node), -1, np.int64)
    opposite[source[around][::-1]] = target[around][::-1]  # of several, the first is written last
    return opposite


def road_graph(
    from_node: Any,
    to_node: Any,
    length: Any,
    *,
    u_turn_m: float = 0.0,
    opposite: Any = None,
    banned: tuple[Any, Any] | None = None,
) -> RoadGraph:
    """Return the graph of roads between nodes.

    `opposite` are the other directions of streets, as `opposite_roads` gives them: turning into them costs `u_turn_m`.
    `banned` are the turns that are not allowed: from which roads, and into which.  O(roads + turns) time and memory.
    """
    n_roads = len(from_node)
    source, target = _turns(from_node, to_node)
    if banned is not None:
        pairs = np.asarray(banned[0], np.int64) * n_roads + np.asarray(banned[1], np.int64)
        allowed = ~np.isin(source * n_roads + target, pairs)
        source = source[allowed]
        target = target[allowed]
    turn_m = np.zeros(len(target))
    if opposite is not None:
        turn_m[opposite[source] == target] = u_turn_m
    first_turn = np.zeros(n_roads + 1, np.int64)
    np.cumsum(np.bincount(source, minlength=n_roads), out=first_turn[1:])
    return RoadGraph(np.array(length, np.float64), first_turn, target, turn_m)


def _turns(from_node: Any, to_node: Any) -> tuple[Any, Any]:
    """Return all pairs of a road and a road that begins where it ends, in the order of both."""
    leaving = np.argsort(from_node, kind="stable").astype(np.int64)
    n_nodes = 1 + int(max(from_node.max(initial=-1), to_node.max(initial=-1)))
    first = np.zeros(n_nodes + 1, np.int64)
    np.cumsum(np.bincount(from_node, minlength=n_nodes), out=first[1:])
    n_turns = first[to_node + 1] - first[to_node]
    source = np.repeat(np.arange(len(to_node)), n_turns)
    before = np.cumsum(n_turns) - n_turns
    return source, leaving[np.arange(len(source)) + np.repeat(first[to_node] - before, n_turns)]


@kernel
def new_search(n_roads):
    """Return the memory of searches on a network, O(roads)."""
    way = np.empty(n_roads, np.float64)
    before = np.empty(n_roads, np.int64)
    seen = np.zeros(n_roads, np.int64)
    done = np.zeros(n_roads, np.int64)
    is_goal = np.zeros(n_roads, np.int64)
    run = np.zeros(1, np.int64)
    key = np.zeros(_REMEMBERED, np.int64)
    known = np.empty(_REMEMBERED, np.float64)
    bound = np.empty(_REMEMBERED, np.float64)
    return Search(way, before, seen, done, is_goal, run, key, known, bound)


@kernel
def new_goals(most):
    """Return room for `most` questions."""
    road = np.empty(most, np.int64)
    limit = np.empty(most, np.float64)
    way = np.empty(most, np.float64)
    goals = np.empty(most, np.int64)
    slot = np.empty(most, np.int64)
    return Goals(road, limit, way, goals, slot)


@kernel
def search(graph, memory, source, target, n_targets, bound):
    """Find the shortest ways of at most `bound` from the end of a road to the first `n_targets` roads of `target`.

    What is found of a road depends neither on the bound nor on the targets: of ways of equal length always the same.
    The source can be a target as well: the way is then one that leads around to it.  O(turns within the bound x log)
    time.
    """
    memory.run[0] += 1
    run = memory.run[0]
    left = np.int64(0)
    for i in range(n_targets):
        if memory.wanted[target[i]] != run:
            memory.wanted[target[i]] = run
            left += 1
    heap = _go_on(graph, memory, new_heap(64), source, -1, 0.0, bound)
    # Dijkstra's algorithm.  Before each round the ways of all roads that are done are known, and the heap has a way to
    # every road that can be entered from one of them.  A round takes the nearest road and enters those after it; it is
    # the last one when all targets are done, or when nothing within the bound is left.
    while left > 0 and heap.size[0] > 0:
        way, road = pop(heap)
        if memory.done[road] == run:
            continue
        memory.done[road] = run
        if memory.wanted[road] == run:
            left -= 1
        heap = _go_on(graph, memory, heap, road, road, way + graph.length[road], bound)


@inner
def _go_on(graph, memory, heap, road, before, passed, bound):
    """Enter the roads after `road`, whose end is `passed` metres away; return the heap of what was entered."""
    run = memory.run[0]
    for turn in range(graph.first_turn[road], graph.first_turn[road + 1]):
        after = graph.turn_to[turn]
        way = passed + graph.turn_m[turn]
        if way <= bound and (memory.seen[after] != run or way < memory.way[after]):
            memory.way[after] = way
            memory.before[after] = before
            memory.seen[after] = run
            heap = push(heap, way, after)
    return heap


@inner
def ways_to(graph, memory, source, goals, n_goals):
    """Answer the first `n_goals` questions from the end of the road `source`.

    Answers are remembered, each in one of few places, where a later one may replace it; so the memory does not grow,
    and nothing but time depends on what is remembered.
    """
    n_roads = graph.length.size
    n_asked = np.int64(0)
    bound = -1.0
    for i in range(n_goals):
        goals.way[i] = np.inf
        place = (source * 7919 + goals.road[i]) % _REMEMBERED
        same = memory.key[place] == source * n_roads + goals.road[i] + 1
        if same and memory.known[place] <= goals.limit[i]:
            goals.way[i] = memory.known[place]
            continue
        if goals.limit[i] < 0.0:
            continue
        if same and (memory.known[place] < np.inf or memory.bound[place] >= goals.limit[i]):
            continue  # it is known that there is no such way within the limit
        goals.asked[n_asked] = goals.road[i]
        goals.slot[n_asked] = i
        n_asked += 1
        bound = max(bound, goals.limit[i])
    if n_asked == 0:
        return
    search(graph, memory, source, goals.asked, n_asked, bound)
    for j in range(n_asked):
        road = goals.asked[j]
        i = goals.slot[j]
        way = np.inf
        if memory.done[road] == memory.run[0]:
            way = memory.way[road]
        place = (source * 7919 + road) % _REMEMBERED
        memory.key[place] = source * n_roads + road + 1
        memory.known[place] = way
        memory.bound[place] = bound
        if way <= goals.limit[i]:
            goals.way[i] = way
