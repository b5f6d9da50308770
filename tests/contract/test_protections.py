"""Every sentence under "protects against" is played by an attack of ours, and data made to hurt keep its bound."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import hurtful
import numpy as np
import pytest

from wayveil.attacks import ATTACKS
from wayveil.commands.read_table import read
from wayveil.engines import LocalEngine
from wayveil.methods import METHODS
from wayveil.model import Protection, parameters_of
from wayveil.recipe import catalog

ENGINE = LocalEngine(workers=1)
STRICT = {"k": 3, "c": "1/2", "p": "1/2", "m": 3, "l": 2}
"""What is asked of a method that has such a parameter, beyond what it requires."""


def variants() -> list[Any]:
    """Return every method, and also with what stops somebody else: no radius, or hiding what absence tells."""
    found = []
    for name, method in sorted(METHODS.items()):
        found.append(pytest.param(method, {}, id=name))
        if any(p.name == "delta" for p in parameters_of(method)):
            found.append(pytest.param(method, {"delta": 0}, id=f"{name}-0"))
        if any(p.name == "hide_absence" for p in parameters_of(method)):
            found.append(pytest.param(method, {"hide_absence": "yes"}, id=f"{name}-hidden"))
    return found


def configured(method: type[Any], more: dict[str, Any]) -> Any:
    """Return the method with moderate parameters."""
    given: dict[str, Any] = {}
    for p in parameters_of(method):
        if p.name in STRICT:
            given[p.name] = STRICT[p.name]
        elif p.kind == "sensitive":
            given[p.name] = {"ill": ["yes"]}
        elif p.kind == "groups":
            given[p.name] = {"east": ["stop-0", "stop-1"], "west": ["stop-2", "stop-3"]}
        elif p.required:
            given[p.name] = {
                "int": int(max(p.low or 0, 2)),
                "fraction": "1/2",
                "duration": "10",
                "number": max(p.low or 0, 400),
                "text": "",
                "choice": p.choices[0] if p.choices else "",
            }[p.kind]
    return method(**{**given, **more})


def assert_is_played(protection: Protection, method: Any) -> None:
    """There is an attack of this name, with these settings, on what the method takes and publishes."""
    assert protection.sentence
    assert protection.measured
    assert protection.attack in ATTACKS, f"no attack plays: {protection.sentence}"
    attack: Any = catalog.build("attack", protection.attack, dict(protection.settings))
    assert attack.accepts is method.accepts
    assert method.publishes in attack.targets
    assert protection.bound >= 0


def assert_is_kept(protection: Protection, method: Any, truth: Any, target: Any) -> None:
    """The attack gives the numbers that are named, and each keeps the bound."""
    attack: Any = catalog.build("attack", protection.attack, dict(protection.settings))
    sensitive = {name: list(values) for name, values in getattr(method, "sensitive", ())}
    result = attack.run(truth, target, sensitive=sensitive, rng=np.random.default_rng(1), engine=ENGINE)
    for name in protection.measured:
        assert name in result.measured, f"{protection.attack} does not measure {name}"
        value = result.measured[name]
        assert not protection.is_broken_by(value), f"{protection.sentence}: {name} is {value}"


def read_hurtful(kind: type, folder: Path) -> Any:
    path = folder / "input.csv"
    path.write_text(hurtful.table_of(kind))
    beside = {}
    if kind in hurtful.BESIDE:
        key, text = hurtful.BESIDE[kind]
        (folder / f"{key}.csv").write_text(text + "\n")
        beside[key] = str(folder / f"{key}.csv")
    return read(path, **beside)


@pytest.mark.parametrize(("method", "more"), [pytest.param(*v.values, id=v.id) for v in variants()])
def test_every_sentence_has_an_attack_that_plays_it(method: type[Any], more: dict[str, Any]) -> None:
    made = configured(method, more)
    for protection in made.claim.protects:
        assert_is_played(protection, made)
    for name in made.claim.unbounded:
        assert name in ATTACKS


@pytest.mark.parametrize(("method", "more"), variants())
def test_data_made_to_hurt_keep_every_bound(method: type[Any], more: dict[str, Any], tmp_path: Path) -> None:
    truth = read_hurtful(method.accepts, tmp_path)
    assert truth.owners == "given"
    made_by = configured(method, more)
    made = made_by.run(truth, rng=np.random.default_rng(1), engine=ENGINE)
    if not made.data.n_rows:
        return  # nothing is published, and nothing is promised
    verdict = catalog.verify(made.data, made.claim, truth, made.boxes)
    assert verdict.holds, verdict.reason
    for protection in made.claim.protects:
        assert_is_kept(protection, made_by, truth, made.data)


def test_a_sentence_without_an_attack_is_found() -> None:
    method = configured(METHODS["kcl"], {})
    nobody = Protection(
        sentence="whoever reads the stars", attack="stars", measured=("identity_max",), bound=Fraction(1, 2)
    )
    with pytest.raises(AssertionError, match="no attack plays: whoever reads the stars"):
        assert_is_played(nobody, method)
    for protection in method.claim.protects:
        assert_is_played(protection, method)
        with pytest.raises(AssertionError):
            assert_is_played(replace(protection, attack="known_places", settings=()), method)  # an attack on other data
        with pytest.raises(AssertionError):
            assert_is_played(replace(protection, measured=()), method)


def test_a_sentence_that_is_not_true_is_found(tmp_path: Path) -> None:
    method = configured(METHODS["kcl"], {})
    truth = read_hurtful(method.accepts, tmp_path)
    identity = method.claim.protects[0]
    with pytest.raises(AssertionError, match="identity_max is"):
        assert_is_kept(identity, method, truth, truth)  # as if everything were published
    with pytest.raises(AssertionError, match="does not measure luck"):
        assert_is_kept(replace(identity, measured=("luck",)), method, truth, truth)
