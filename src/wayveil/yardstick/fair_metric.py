"""The fair loss of a publication in a folder: what of the use of the file is gone, from the file on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from wayveil.errors import UsageError
from wayveil.model import Data, Score, check_parameters, parameter
from wayveil.model.numbers import share
from wayveil.pipeline.folder.manifest import read_manifest
from wayveil.pipeline.input import load_published, load_zones
from wayveil.recipe.recipe import InputSpec
from wayveil.yardstick.fair_loss import DEFAULT_USES, USES, RawUse, choose_resolution, parse_resolution
from wayveil.yardstick.footprint import Space, make_space, trace

__all__ = ["FairMetric"]


@dataclass(frozen=True, kw_only=True)
class FairMetric:
    """The share of the use of a file that is gone, at one resolution for fine and coarse publications.

    Parameters
    ----------
    use : str
        What the data are for; "auto" stands for flows, hours and lengths, of which the one that suffers most counts.
    resolution : str
        Metres and minutes, such as "500m,60min"; "auto" is about 1/40 of where people are, and an hour.
    """

    use: str = parameter(kind="choice", choices=("auto", *USES), default="auto", help="what the data are for")
    resolution: str = parameter(kind="text", default="auto", help="metres and minutes at which the use is measured")

    name: ClassVar[str] = "fair_loss"
    summary: ClassVar[str] = "share of the use of the file that is gone, coarse zones and times spread over fine ones"

    def __post_init__(self) -> None:
        check_parameters(self, self.name)
        if self.resolution != "auto":
            parse_resolution(self.resolution)

    def count_raw(self, raw: Data) -> tuple[Space, RawUse]:
        """Return what publications of raw data are compared with."""
        space = make_space(raw)
        resolution = None if self.resolution == "auto" else parse_resolution(self.resolution)
        uses = DEFAULT_USES if self.use == "auto" else (self.use,)
        return space, RawUse.of(trace(raw, space), choose_resolution(space, resolution), uses)

    def score_folder(
        self, raw: Data, counted: tuple[Space, RawUse], public: Path, spec: InputSpec, steps: Sequence[Any], method: Any
    ) -> Score:
        """Return the loss of the publication in a folder; UsageError where it is not known where its places are."""
        space, use = counted
        manifest, _ = read_manifest(public)
        published = load_published(public, manifest).data
        polygons = None
        for step in steps:
            polygons = load_zones(spec, step, raw) if step.needs_zones else polygons
        loss = use.lose(trace(published, space, steps=steps, polygons=polygons, timed=method.keeps_times))
        if not loss.known:
            raise UsageError(f"{self.name}: there is nothing in the file that could be counted.")
        return Score(
            name=self.name,
            meaning=f"{self.summary}, at {use.resolution}",
            value=loss.value,
            better="lower",
            unit="share",
            numbers={f"{name}_lost_share": share(part, f"{USES[name].capitalize()} that are gone")
                     for name, part in loss.parts.items()},
        )  # fmt: skip
