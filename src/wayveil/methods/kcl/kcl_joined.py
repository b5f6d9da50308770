"""Everybody's visits on the driver, in few bytes: how a large crowd in pieces is decided on by one machine.

Visits are given back from nothing, which looks at the records of everybody, item by item.  What is held for that is,
per visit, its item and where that item occurs (12 bytes) and whether it stays (3 at the most); per trajectory some 45
bytes.  Pieces are read one after the other, into arrays that are as long as all of them together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from wayveil.kernels.kcl.projected_lists import NO_LIMIT, Records
from wayveil.methods.kcl.kcl_strategies import EncodedVisits
from wayveil.model import BlockStore
from wayveil.model.data.ragged import BoolArray, IntArray, take

__all__ = ["NumberedPiece", "join_records", "split_by_piece"]


@dataclass(frozen=True, kw_only=True)
class NumberedPiece:
    """A block as numbers: its name in the store, and how many visits and trajectories it has."""

    name: str
    visits: int
    trajectories: int


def join_records(store: BlockStore, pieces: Sequence[NumberedPiece]) -> Records:
    """Return the records of all pieces, sorted by owner, in small types; only one piece is held besides.

    Nobody is in two pieces, and people ascend from piece to piece, so sorting each piece sorts all of them.
    """
    n_visits = sum(piece.visits for piece in pieces)
    n_records = sum(piece.trajectories for piece in pieces)
    first: EncodedVisits = store.load(pieces[0].name)
    n_attributes = first.value.shape[1]
    offsets = np.zeros(n_records + 1, np.int64)
    items = np.empty(n_visits, np.int32)
    owner = np.empty(n_records, np.int32)
    sensitive = np.empty(n_records * n_attributes, np.int32)
    n_owners = 0
    record = 0
    visit = 0
    for piece in pieces:
        one: EncodedVisits = store.load(piece.name)
        by_owner = _by_owner(one)
        local, rows = take(one.offsets, by_owner)
        people, number = np.unique(one.owner[by_owner], return_inverse=True)
        until = record + piece.trajectories
        offsets[record + 1 : until + 1] = visit + local[1:]
        items[visit : visit + piece.visits] = one.item[rows]
        owner[record:until] = n_owners + number
        sensitive[record * n_attributes : until * n_attributes] = one.value[by_owner].ravel()
        n_owners += len(people)
        record = until
        visit += piece.visits
    return Records(
        offsets=offsets,
        items=items,
        alive=np.ones(n_visits, np.int8),
        owner=owner,
        owner_first=np.searchsorted(owner, np.arange(n_owners + 1, dtype=np.int32)),
        sensitive=sensitive,
        n_items=int(first.n_items),
        n_values=int(first.n_values),
        n_attributes=n_attributes,
        most_common=NO_LIMIT,
    )


def split_by_piece(store: BlockStore, pieces: Sequence[NumberedPiece], keep: BoolArray) -> Iterator[BoolArray]:
    """Yield for each piece which of its visits stay, in the order in which the piece has them."""
    visit = 0
    for piece in pieces:
        one: EncodedVisits = store.load(piece.name)
        rows = take(one.offsets, _by_owner(one))[1]
        stays = np.empty(piece.visits, np.bool_)
        stays[rows] = keep[visit : visit + piece.visits]
        yield stays
        visit += piece.visits


def _by_owner(piece: EncodedVisits) -> IntArray:
    return np.argsort(piece.owner, kind="stable")
