"""Noisy histograms of people, and what they cost: the only way from the data to a synthetic trip."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil

import numpy as np

from wayveil.errors import InputError
from wayveil.methods.synth.person_shares import ONE_PERSON
from wayveil.model.data.ragged import FloatArray, IntArray
from wayveil.model.noisy_query import NoisyQuery

__all__ = ["Budget", "Noisy", "fit_total"]

_MOST_KEYS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Noisy:
    """A noisy histogram in people, and the scale of its noise, in people too."""

    values: FloatArray
    scale: float


@dataclass
class Budget:
    """Spends an epsilon and a delta on histograms, and keeps what was asked.

    Parameters
    ----------
    epsilon, delta : Fraction
        What may be spent in all.
    queries : list of NoisyQuery
        What was asked so far; it goes into the claim.

    Notes
    -----
    The scale of the noise is a whole number, so that the loss of a query is the exact fraction ``parts / scale``, and
    the losses of all queries are compared with the budget as fractions.  Noise is OpenDP's discrete Laplace noise, from
    the random numbers of the operating system; no seed of ours leads to it.
    """

    epsilon: Fraction
    delta: Fraction
    queries: list[NoisyQuery] = field(default_factory=list)
    spent: Fraction = Fraction(0)
    spent_delta: Fraction = Fraction(0)

    def histogram(self, name: str, counts: str, values: IntArray, epsilon: Fraction) -> Noisy:
        """Return a histogram over keys that were known before, each with noise, also where nobody is.

        `values` are in parts of a person; nobody may have added more than `ONE_PERSON` to all of them together.
        """
        if len(values) > _MOST_KEYS:
            raise InputError(f"synth: a histogram of {len(values):,} keys is too large; use fewer places or cells.")
        scale = self._spend(epsilon)
        from wayveil.methods.common.opendp_noise import add_laplace_noise

        noisy, loss = add_laplace_noise(values, scale=scale, l1=ONE_PERSON)
        self.queries.append(
            NoisyQuery(
                name=name,
                counts=counts,
                domain="public",
                keys=len(values),
                l0=min(len(values), ONE_PERSON),
                linf=ONE_PERSON,
                l1=ONE_PERSON,
                noise="laplace",
                scale=float(scale),
                epsilon=loss,
                role="model",
            )
        )
        return Noisy(values=noisy / ONE_PERSON, scale=scale / ONE_PERSON)

    def select(
        self, name: str, counts: str, values: IntArray, *, l0: int, epsilon: Fraction, delta: Fraction
    ) -> tuple[IntArray, Noisy]:
        """Return the keys of the data whose noisy count reaches a threshold, and these counts.

        A key that only one person has is found with a chance of at most `delta`, over all keys of that person: nobody
        may have added anything to more than `l0` keys.
        """
        scale = self._spend(epsilon)
        self.spent_delta += delta
        from wayveil.methods.common.opendp_noise import find_threshold, select_keys

        threshold = find_threshold(scale=scale, l0=l0, linf=ONE_PERSON, l1=ONE_PERSON, delta=delta)
        present = np.flatnonzero(values > 0)
        keys, noisy, losses = select_keys(
            present, values[present], scale=scale, threshold=threshold, l0=l0, linf=ONE_PERSON, l1=ONE_PERSON
        )
        self.queries.append(
            NoisyQuery(
                name=name,
                counts=counts,
                domain="threshold",
                l0=l0,
                linf=ONE_PERSON,
                l1=ONE_PERSON,
                noise="laplace",
                scale=float(scale),
                threshold=threshold,
                epsilon=losses[0],
                delta=losses[1],
                role="model",
            )
        )
        return keys, Noisy(values=noisy / ONE_PERSON, scale=scale / ONE_PERSON)

    def _spend(self, epsilon: Fraction) -> int:
        """Take from the budget; return the scale of the noise in parts of a person."""
        scale = ceil(ONE_PERSON / epsilon)
        loss = Fraction(ONE_PERSON, scale)
        if self.spent + loss > self.epsilon:
            raise AssertionError("synth asks for more than its budget; this is a bug")
        self.spent += loss
        return scale


def fit_total(values: FloatArray, total: float) -> FloatArray:
    """Return the numbers from 0 on with this sum that are nearest to noisy ones: all lose the same, and none goes below 0.

    Without noise, a histogram has no negative numbers, and its sum is known better than the numbers are.

    Examples
    --------
    >>> fit_total(np.array([5.0, 1.0, -2.0]), 4.0).tolist()
    [4.0, 0.0, 0.0]
    >>> fit_total(np.array([5.0, 3.0]), 4.0).tolist()
    [3.0, 1.0]
    """
    if not len(values) or total <= 0:
        return np.zeros(len(values))
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(values) + 1)
    # The largest number of entries that stay above 0 after all of them lost the same.
    stay = np.flatnonzero(falling - excess > 0)
    return np.maximum(values - excess[stay[-1]], 0.0)
