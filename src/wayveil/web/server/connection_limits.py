"""What a client of the server may take."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a client may take.

    Parameters
    ----------
    connections : int
        At a time.  Where one more comes, the one that has asked nothing for longest is closed; where all are being
        answered, the new one.
    head_s : float
        Seconds for the head of a request, from the connection or the first byte after an answer.
    silence_s : float
        Seconds without a byte, while the body of a request is waited for.
    idle_s : int
        Seconds without a request after an answer.
    head_bytes : int
        The largest head of a request.
    """

    connections: int = 100
    head_s: float = 10.0
    silence_s: float = 60.0
    idle_s: int = 30
    head_bytes: int = 32 << 10
