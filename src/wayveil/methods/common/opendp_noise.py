"""Noise from OpenDP: discrete Laplace noise on whole numbers, with and without keys that come from the data."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from wayveil.errors import InputError
from wayveil.model.data.ragged import FloatArray, IntArray

__all__ = ["add_laplace_noise", "find_threshold", "select_keys"]


def _opendp() -> Any:
    try:
        import opendp.prelude as dp
    except ImportError:
        raise InputError("Differential privacy needs OpenDP: pip install 'wayveil[dp]'.") from None
    dp.enable_features("contrib")
    return dp


def add_laplace_noise(values: IntArray, *, scale: int, l1: int) -> tuple[FloatArray, float]:
    """Return whole numbers with noise, and the epsilon that this costs who changes them by at most `l1` in all."""
    dp = _opendp()
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    noisy = dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale=float(scale))
    return np.array(noisy(values.tolist()), np.float64), float(noisy.map(l1))


def find_threshold(*, scale: int, l0: int, linf: int, l1: int, delta: Fraction) -> int:
    """Return the smallest threshold with which a key that one person alone has is found with at most `delta`."""
    low = linf
    high = linf + 1
    while _threshold(scale, high).map((l0, l1, linf))[1] > delta:
        high = 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if _threshold(scale, middle).map((l0, l1, linf))[1] > delta:
            low = middle
        else:
            high = middle
    return high


def select_keys(
    keys: IntArray, values: IntArray, *, scale: int, threshold: int, l0: int, linf: int, l1: int
) -> tuple[IntArray, FloatArray, tuple[float, float]]:
    """Return the keys whose noisy value reaches a threshold, these values, and the epsilon and delta it costs."""
    noisy = _threshold(scale, threshold)
    epsilon, delta = noisy.map((l0, l1, linf))
    kept = noisy(dict(zip(keys.tolist(), values.tolist(), strict=True)))
    found = np.array(sorted(kept), np.int64)
    return found, np.array([kept[key] for key in found.tolist()], np.float64), (float(epsilon), float(delta))


def _threshold(scale: int, threshold: int) -> Any:
    dp = _opendp()
    domain = dp.map_domain(dp.atom_domain(T="i64"), dp.atom_domain(T="i64"))
    metric = dp.l01inf_distance(dp.absolute_distance(T="i64"))
    return dp.m.make_laplace_threshold(domain, metric, scale=float(scale), threshold=threshold)
