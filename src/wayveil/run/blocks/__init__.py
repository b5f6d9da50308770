"""Data that are too large for one machine: cut into blocks, published in parts, judged as a whole.

Everything that decides the result is in the recipe: the key of the blocks and their size.  The engine only decides
where and how many at a time, so one core and a hundred machines give the same bytes.
"""

from __future__ import annotations

from wayveil.pipeline.blocks.publishing import publish_blocks

__all__ = ["publish_blocks"]
