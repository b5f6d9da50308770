"""Packages that are heavy to import, and that only those who compute need."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["lazy_module"]


class _LazyModule(ModuleType):
    """A module that is imported when something of it is first asked for."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self.__name__), name)
        setattr(self, name, value)
        return value


def lazy_module(name: str) -> Any:
    """Return a module that is imported when it is first used, so that declaring what uses it costs nothing.

    Examples
    --------
    >>> sparse = lazy_module("scipy.sparse")
    >>> sparse.csr_array([[0, 2]]).nnz
    1
    """
    return _LazyModule(name)
