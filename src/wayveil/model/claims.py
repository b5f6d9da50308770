"""What a claim is: what it must be able to say of itself, and what all of them do in the same way."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from wayveil.model.parameters import check_parameters, parameters_of, plain

__all__ = ["Claim", "Guarantee"]


class Guarantee(Protocol):
    """What a claim must be able to say of itself."""

    name: ClassVar[str]
    about_truth: ClassVar[bool]
    """Whether the claim also speaks of the original, so that its verifier takes that too, as ``original=``."""
    judged_alone: ClassVar[bool]
    """Whether the publication alone can show that the claim does not hold; if not, only its owner can judge it."""

    @property
    def promise(self) -> str:
        """The claim in plain words."""

    @property
    def covered(self) -> tuple[str, ...]:
        """The attackers that are stopped."""

    @property
    def not_covered(self) -> tuple[str, ...]:
        """The attackers that are not stopped."""

    @property
    def unbounded(self) -> tuple[str, ...]:
        """The attacks of ours whose success is not bounded: what they achieve is told beside the promise."""

    def to_json(self) -> dict[str, Any]:
        """The claim as JSON can hold it; `guarantee_from_json` reads it back."""


class Claim:
    """What every claim does in the same way; a claim that differs says so."""

    name: ClassVar[str]
    about_truth: ClassVar[bool] = False
    judged_alone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_parameters(self, self.name)

    @property
    def unbounded(self) -> tuple[str, ...]:
        return ()

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, **{p.name: plain(getattr(self, p.name)) for p in parameters_of(type(self))}}
