"""How kernels are compiled: when they are first called, and never from stale machine code.

A kernel is light until it is called: declaring one imports no compiler, so that a command that computes nothing does
not wait for numba.  Where its machine code is kept, and where it comes from, is told in `code_cache.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from threading import RLock
from typing import Any

__all__ = ["Kernel", "inner", "kernel"]

_ONE_AT_A_TIME = RLock()
"""Two threads that call a kernel for the first time must not compile it twice."""


class Kernel:
    """A function that numba compiles on its first call, from Python or from another kernel.

    Parameters
    ----------
    function : callable
        Arrays in, arrays out.
    options : dict
        What numba is told besides ``nogil``.
    """

    __name__: str
    __qualname__: str

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self.py_func = function
        self._options = options
        self._dispatcher: Any = None
        update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        return (self._dispatcher or self.dispatcher)(*arguments)

    def __reduce__(self) -> str:
        # by name: rebuilt from its code, it would be compiled again in every process that it is sent to
        return self.__qualname__

    def __repr__(self) -> str:
        return f"<kernel {self.__module__}.{self.__qualname__}>"

    @property
    def dispatcher(self) -> Any:
        """What numba makes of the function; the function itself where ``NUMBA_DISABLE_JIT`` is set."""
        with _ONE_AT_A_TIME:
            if self._dispatcher is None:
                from numba import njit

                from wayveil.kernels.common.code_cache import keep_code

                compiled = njit(nogil=True, **self._options)(self.py_func)
                if compiled is not self.py_func:
                    keep_code(compiled)
                self._dispatcher = compiled
            return self._dispatcher

    @property
    def _numba_type_(self) -> Any:
        """What numba asks for when another kernel calls this one."""
        return self.dispatcher._numba_type_


def kernel(function: Callable[..., Any]) -> Kernel:
    """Compile `function` on first call, without the interpreter lock; can be called from Python and from kernels."""
    return Kernel(function, {})


def inner(function: Callable[..., Any]) -> Kernel:
    """Compile a part of a kernel that only kernels call: half the compile time, as Python needs no way in."""
    return Kernel(function, {"no_cpython_wrapper": True, "no_cfunc_wrapper": True})
