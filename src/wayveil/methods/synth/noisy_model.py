"""Noisy histograms of people, and what they cost: the only way from the data to a synthetic trip."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import nextafter

import numpy as np

from wayveil.errors import InputError, ParameterError
from wayveil.methods.common.noise import add_noise, plan_laplace, plan_selection, select_keys
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
    What queries cost is added up as exact fractions and compared with the budget before anything is asked.  Noise is
    OpenDP's discrete Laplace noise, from the random numbers of the operating system; no seed of ours leads to it.
    """

    epsilon: Fraction
    delta: Fraction
    queries: list[NoisyQuery] = field(default_factory=list)

    def histogram(self, name: str, counts: str, values: IntArray, epsilon: Fraction) -> Noisy:
        """Return a histogram over keys that were known before, each with noise, also where nobody is.

        `values` are in parts of a person; nobody may have added more than `ONE_PERSON` to all of them together.
        """
        if len(values) > _MOST_KEYS:
            raise InputError(f"synth: a histogram of {len(values):,} keys is too large; use fewer places or cells.")
        query = plan_laplace(
            name,
            component="synth",
            counts=counts,
            keys=len(values),
            l0=len(values),
            linf=ONE_PERSON,
            l1=ONE_PERSON,
            epsilon=_below(epsilon),
            role="model",
        )
        self._spend(query)
        noisy = add_noise(values, query, component="synth")
        return Noisy(values=noisy / ONE_PERSON, scale=query.scale / ONE_PERSON)

    def select(
        self, name: str, counts: str, values: IntArray, *, l0: int, epsilon: Fraction, delta: Fraction
    ) -> tuple[IntArray, Noisy]:
        """Return the keys of the data whose noisy count reaches a threshold, and these counts.

        A key that only one person has is found with a chance of at most `delta`, over all keys of that person: nobody
        may have added anything to more than `l0` keys.
        """
        try:
            query = plan_selection(
                name,
                component="synth",
                counts=counts,
                l0=l0,
                linf=ONE_PERSON,
                l1=ONE_PERSON,
                epsilon=_below(epsilon),
                delta=_below(delta),
                role="model",
            )
        except ParameterError:  # no number of people would be enough with this budget: nothing is asked
            return np.zeros(0, np.int64), Noisy(values=np.zeros(0), scale=1.0)
        self._spend(query)
        # Only keys that somebody has are asked for: noise on any other would show that it is between two of them.
        present = np.flatnonzero(values > 0)
        keys, noisy = select_keys(values[present], query, component="synth")
        return present[keys], Noisy(values=noisy / ONE_PERSON, scale=query.scale / ONE_PERSON)

    def _spend(self, query: NoisyQuery) -> None:
        """Take what a query costs from the budget, before it is asked."""
        self.queries.append(query)
        epsilon = sum((Fraction(one.epsilon) for one in self.queries), Fraction(0))
        delta = sum((Fraction(one.delta) for one in self.queries), Fraction(0))
        if epsilon > self.epsilon or delta > self.delta:
            raise ValueError("synth asks for more than its budget")


def _below(share: Fraction) -> float:
    """Return a share of a budget as a float that is not above it."""
    near = float(share)
    return near if Fraction(near) <= share else nextafter(near, 0.0)


def fit_total(values: FloatArray, total: float) -> FloatArray:
    """Return the numbers from 0 on with this sum that are nearest to noisy ones: all lose the same, none goes below 0.

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
