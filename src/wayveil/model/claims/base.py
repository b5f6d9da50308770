"""What a claim is: what it must be able to say of itself, and what all of them do in the same way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Protocol

from wayveil.errors import ParameterError
from wayveil.model.claims.counting import each_trajectory, share_value
from wayveil.model.numbers import Numbers
from wayveil.model.parameters import Sensitive, check_parameters, parameters_of, plain

__all__ = ["Claim", "GroupClaim", "Guarantee", "Protection"]


@dataclass(frozen=True, kw_only=True)
class Protection:
    """An attacker who is stopped, and how far: one sentence under "protects against", and the attack that plays it.

    Parameters
    ----------
    sentence : str
        The attacker, what is learned, and the bound, in plain words.
    attack : str
        The attack of ours, by name, that plays exactly this attacker.  A sentence without one is not printed.
    settings : mapping of str to value
        The parameters with which that attack plays it.
    measured : tuple of str
        The numbers of the attack's result that keep the bound.  Each is that of the worst person, not a mean.
    bound : Fraction
        What these numbers must keep.
    keeps : {"at most", "at least"}
        On which side of the bound they stay.
    judged : bool
        Whether the verdict implies the sentence.  If not, its attack is the only judge, and is run with every
        publication, whatever attacks are asked for.
    """

    sentence: str
    attack: str
    measured: tuple[str, ...]
    bound: Fraction
    keeps: Literal["at most", "at least"] = "at most"
    settings: tuple[tuple[str, Any], ...] = field(default=())
    judged: bool = True

    def is_broken_by(self, value: float | int | None) -> bool:
        """Return whether a measured number is beyond the bound; None is nothing measured, which breaks nothing.

        A float is compared with a little room for its last digits, an integer exactly.

        Examples
        --------
        >>> one_half = Protection(sentence="", attack="", measured=(), bound=Fraction(1, 2))
        >>> one_half.is_broken_by(0.5), one_half.is_broken_by(0.51), one_half.is_broken_by(None)
        (False, True, False)
        """
        if value is None:
            return False
        room = 1e-9 if isinstance(value, float) else 0
        if self.keeps == "at most":
            return value > self.bound + Fraction(room)
        return value < self.bound - Fraction(room)

    def to_json(self) -> dict[str, Any]:
        """The attacker and the bound as JSON can hold them."""
        return {
            "sentence": self.sentence,
            "attack": self.attack,
            "settings": {name: plain(value) for name, value in self.settings},
            "measured": list(self.measured),
            "keeps": self.keeps,
            "bound": plain(self.bound),
        }


class Guarantee(Protocol):
    """What a claim must be able to say of itself."""

    name: ClassVar[str]
    about_truth: ClassVar[bool]
    """Whether the claim also speaks of the original, so that its verifier takes that too, as ``original=``."""
    judged_alone: ClassVar[bool]
    """Whether the publication alone can show that the claim does not hold; if not, only its owner can judge it."""
    public_numbers: ClassVar[tuple[str, ...]]
    """What of a verdict is public: numbers that follow from the published rows and from who is behind them.  What
    compares them with the original (rows that are left out, boxes that are not true) is in the private report alone."""

    quantities: ClassVar[Numbers]
    """The numbers of a verdict, by name, without their values: unit, label, and which parameter bounds them."""

    @property
    def sensitive(self) -> Sensitive:
        """The values whose inference is bounded, by attribute."""

    @property
    def private_columns(self) -> tuple[str, ...]:
        """The columns, besides the sensitive ones, with a value per trajectory of which the claim speaks; they are not
        published."""

    @property
    def adversaries(self) -> Sensitive:
        """The places that adversaries have of their own, by the name of the adversary."""

    @property
    def group_size(self) -> int:
        """How many people must look alike; 2 where the claim is about something else."""

    @property
    def attack_settings(self) -> Mapping[str, Any]:
        """The parameters that make attackers as strong as the claim withstands, for the attacks that have them."""

    def settings_of(self, attack: str) -> Mapping[str, Any]:
        """The parameters of one attack that follow from the claim, the same for all where it makes no difference."""

    @property
    def promise(self) -> str:
        """The claim in plain words."""

    def statement(self, owners: str) -> str:
        """The promise, and how people were counted: `owners` is that of the data."""

    @property
    def protects(self) -> tuple[Protection, ...]:
        """The attackers that are stopped, each with its bound and the attack that plays it."""

    @property
    def covered(self) -> tuple[str, ...]:
        """The sentences of `protects`."""

    @property
    def not_covered(self) -> tuple[str, ...]:
        """The attackers that are not stopped."""

    @property
    def unbounded(self) -> tuple[str, ...]:
        """The attacks of ours whose success is not bounded: what they achieve is told beside the promise."""

    def to_json(self) -> dict[str, Any]:
        """The claim as JSON can hold it; `guarantee_from_json` reads it back."""


class Claim(ABC):
    """What every claim does in the same way; a claim that differs says so."""

    name: ClassVar[str]
    about_truth: ClassVar[bool] = False
    judged_alone: ClassVar[bool] = True
    public_numbers: ClassVar[tuple[str, ...]] = ()
    quantities: ClassVar[Numbers] = MappingProxyType({})
    sensitive: Sensitive = ()
    adversaries: Sensitive = ()
    row_share: Fraction | str | None = None

    def __post_init__(self) -> None:
        check_parameters(self, self.name)
        if self.row_share == 0:
            raise ParameterError(f"{self.name}: row_share must be larger than 0, got 0. Nobody could own anything.")

    @property
    def private_columns(self) -> tuple[str, ...]:
        return ()

    @property
    @abstractmethod
    def promise(self) -> str: ...

    def statement(self, owners: str) -> str:
        return f"{self.promise} {each_trajectory()}" if owners == "declared" else self.promise

    @property
    @abstractmethod
    def protects(self) -> tuple[Protection, ...]: ...

    @property
    def group_size(self) -> int:
        return 2

    @property
    def attack_settings(self) -> Mapping[str, Any]:
        return {}

    def settings_of(self, attack: str) -> Mapping[str, Any]:
        """Return the settings of one attack."""
        return self.attack_settings

    @property
    def covered(self) -> tuple[str, ...]:
        return tuple(protection.sentence for protection in self.protects)

    @property
    @abstractmethod
    def not_covered(self) -> tuple[str, ...]: ...

    @property
    def unbounded(self) -> tuple[str, ...]:
        return ()

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, **{p.name: plain(getattr(self, p.name)) for p in parameters_of(type(self))}}


class GroupClaim(Claim):
    """A claim about `k` people who look alike, of whose trajectories nobody owns more than a share."""

    k: int
    row_share: Fraction | str

    @property
    def owner_share(self) -> Fraction:
        """The largest share of trajectories that look alike which one person may own."""
        return share_value(self.row_share, self.k)

    @property
    def group_size(self) -> int:
        return self.k

    @property
    def attack_settings(self) -> Mapping[str, Any]:
        return {"threshold": Fraction(1, self.k), "k": self.k}
