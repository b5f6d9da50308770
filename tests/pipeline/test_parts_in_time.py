"""Trajectories that a method cuts into pieces of time: attacks see true pieces, metrics whole trajectories."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.engines import LocalEngine
from wayveil.methods.knode.knode import Knode
from wayveil.metrics.boxes.box_loss import BoxLoss
from wayveil.model import Boxes, KAnonymity, MethodResult, Points
from wayveil.pipeline.alignment import aligned, cut_at_parts, rejoin
from wayveil.pipeline.publish import publish
from wayveil.recipe.recipe import make_recipe


@st.composite
def cut_tracks(draw: st.DrawFn) -> tuple[Points, MethodResult]:
    """Tracks of which some spans of time are published, each as a part."""
    records = []
    parts = []
    source = []
    for i in range(draw(st.integers(1, 4))):
        times = sorted(draw(st.sets(st.integers(0, 12), max_size=9)))
        records.append([(t, float(i), float(t)) for t in times])
        cuts = sorted(draw(st.sets(st.integers(0, len(times)), max_size=4)))
        spans = [times[a:b] for a, b in pairwise(cuts) if draw(st.booleans())]
        parts += [[(t, t, 0.0, 9.0, 0.0, 99.0) for t in span] for span in spans or [[]]]
        source += [i] * max(1, len(spans))
    data = Boxes.from_records(parts, owner=source)
    truth = Points.from_records(records, owner=list(range(len(records))))
    return truth, MethodResult(data=data, claim=KAnonymity(k=2), source=np.array(source))


@settings(deadline=None, max_examples=100)
@given(cut_tracks())
def test_the_truth_is_cut_at_the_parts_and_joined_again(case: tuple[Points, MethodResult]) -> None:
    truth, made = case
    assert made.source is not None
    pieces, of = cut_at_parts(truth, made)
    joined_rows = [row for i in range(len(pieces)) for row in pieces.record(i)]
    assert joined_rows == [row for i in range(len(truth)) for row in truth.record(i)]
    for part, piece in enumerate(of.tolist()):
        times = [box[0] for box in made.data.record(part)]
        assert (piece >= 0) == bool(times)
        if times:
            assert [t for t, _, _ in pieces.record(piece)] == times
            assert pieces.owner[piece] == made.source[part]
    there = np.flatnonzero(of >= 0)
    matched = aligned(made.data.take(there), of[there], pieces)
    whole = rejoin(matched, pieces, truth)
    for i in range(len(truth)):
        mine = [box for part in np.flatnonzero(made.source == i).tolist() for box in made.data.record(part)]
        assert whole.record(i) == mine


def test_a_publication_in_pieces(tmp_path: Path) -> None:
    """One goes all the way, with a companion for each half: attacked in pieces, measured as a whole."""
    spans = [(0, 9), (0, 4), (5, 9)]
    rows = [(f"p{i}", t, 100.0 * i, 10.0 * t) for i, (a, b) in enumerate(spans) for t in range(a, b + 1)]
    table = tmp_path / "points.csv"
    table.write_text("user_id,traj_id,t,x,y\n" + "".join(f"{p},{p},{t},{x},{y}\n" for p, t, x, y in rows))
    recipe = make_recipe(
        {
            "seed": 1,
            "input": {"path": str(table), "crs": "planar"},
            "method": {"name": "knode", "k": 2, "window": "20"},
            "output": {"path": str(tmp_path / "out")},
        }
    )
    outcome = publish(recipe, engine=LocalEngine(workers=1))
    assert outcome.verdict.holds
    assert outcome.verdict.measured["trajectories"] == 4
    scores = json.loads((outcome.private / "results.json").read_text())
    graph = next(pair for pair in scores["attacks"] if pair["raw"]["name"] == "attack_graph")
    assert graph["published"]["numbers"]["identity_max"]["value"] == pytest.approx(1 / 2)
    loss = next(score for score in scores["scores"] if score["name"] == "box_loss")
    data = Points.from_records([[(t, x, y) for p, t, x, y in rows if p == f"p{i}"] for i in range(3)], owner=[0, 1, 2])
    made = Knode(k=2, window="20").run(data, rng=np.random.default_rng(0), engine=LocalEngine(workers=1))
    assert loss["value"] == pytest.approx(made.facts["information loss per sample"])
    dropped = Knode(k=2, window="20", cut_off="drop").run(
        data, rng=np.random.default_rng(0), engine=LocalEngine(workers=1)
    )
    assert BoxLoss().run(data, dropped.data).value == pytest.approx(dropped.facts["information loss per sample"])
    assert loss["value"] < dropped.facts["information loss per sample"]
