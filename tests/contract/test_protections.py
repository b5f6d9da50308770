"""Every sentence under "protects against" is played by an attack of ours, and data made to hurt keep its bound."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path
from typing import Any

import hurtful
import numpy as np
import pytest

from wayveil.attacks import ATTACKS
from wayveil.commands.read_table import read
from wayveil.engines import LocalEngine
from wayveil.errors import InputError
from wayveil.methods import METHODS
from wayveil.model import Protection, Stops, Taxonomy, parameters_of
from wayveil.recipe import catalog

ENGINE = LocalEngine(workers=1)
STRICT = {"k": 3, "c": "1/2", "p": "1/2", "m": 3, "l": 2}
"""What is asked of a method that has such a parameter, beyond what it requires."""


def variants() -> list[Any]:
    """Return every method, and also with what stops somebody else: no radius, or hiding what absence tells."""
    found = []
    for name, method in sorted(METHODS.items()):
        found.append(pytest.param(method, {}, id=name))
        if any(p.name == "delta" and p.required for p in parameters_of(method)):
            found.append(pytest.param(method, {"delta": 0}, id=f"{name}-0"))
        if any(p.name == "hide_absence" for p in parameters_of(method)):
            found.append(pytest.param(method, {"hide_absence": "yes"}, id=f"{name}-hidden"))
        if any(p.name == "grouping" for p in parameters_of(method)):
            found.append(pytest.param(method, {"grouping": "apart"}, id=f"{name}-apart"))
    return found


def configured(method: type[Any], more: dict[str, Any]) -> Any:
    """Return the method with moderate parameters."""
    given: dict[str, Any] = {}
    for p in parameters_of(method):
        if p.name in STRICT:
            given[p.name] = STRICT[p.name]
        elif p.kind == "sensitive":
            given[p.name] = {"ill": ["yes"]}
        elif p.kind == "groups" and p.required:
            given[p.name] = {"east": ["stop-0", "stop-1"], "west": ["stop-2", "stop-3"]}
        elif p.required:
            given[p.name] = {
                "int": int(max(p.low or 0, 2)),
                "fraction": "1/2",
                "duration": "10",
                "number": min(max(p.low or 0, 400), p.high or 400),
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
    try:
        made = made_by.run(truth, rng=np.random.default_rng(1), engine=ENGINE)
    except InputError:
        assert made_by.random_noise  # behind noise so few people are not seen: nothing is published
        return
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


# --------------------------------------------------------- an attacker who works out how the groups of cast were formed

PLACES = [("Place", ""), ("Shop", "Place"), ("S1", "Shop"), ("S2", "Shop"), ("Park", "Place"), ("Clinic", "Place")]
NOT_SENSITIVE = [["S1", "S1", "S2", "S2"], ["S1", "S2", "S2", "Park"], ["S1"] * 4]
ALIGNED = [*NOT_SENSITIVE, ["S1 Park", "Park", "S1", "Park S1"], ["S1 S2 Park", "S2 Park", "Park", "S2"]]


def rebuilt_posterior(
    others: list[str], method: Any, turns: list[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> float:
    """Return the largest probability, of somebody who is published, to have been at the clinic.

    The attacker knows where everybody was that is not sensitive, and the method; not who was at the clinic, for which
    all possibilities are equally likely, nor what is drawn.  So all possibilities and all draws are published, and
    those that look like what is seen are left.  Somebody who is published was at the clinic in a share of these.
    """
    tree = Taxonomy.from_parents(PLACES, sensitive=["Clinic"])
    there: dict[Any, Counter[int]] = defaultdict(Counter)
    either: dict[Any, Counter[int]] = defaultdict(Counter)
    for truth in product([False, True], repeat=len(others)):
        ways = [[*places.split(), *(["Clinic"] if ill else [])] for places, ill in zip(others, truth, strict=True)]
        data = Stops.from_records(ways, taxonomy=tree)
        for turn in turns:
            monkeypatch.setattr("wayveil.methods.cast.cast._drawn_turns", lambda data, key, turn=turn: np.array(turn))
            try:
                made = method.run(data, rng=np.random.default_rng(0), engine=ENGINE).data
            except InputError:
                continue
            records = [tuple(made.record(i)) for i in range(len(ways))]
            seen = tuple(sorted(record for record in records if record))
            for i, record in enumerate(records):
                either[seen][i] += bool(record)
                there[seen][i] += bool(record) and truth[i]
    return max(there[seen][i] / many for seen, people in either.items() for i, many in people.items() if many)


@pytest.mark.parametrize(
    ("others", "alignment"),
    [*((others, "position") for others in NOT_SENSITIVE), *((others, "order") for others in ALIGNED)],
)
@pytest.mark.parametrize("c", ["1/2", "1/3", "1/4"])
def test_who_works_out_the_groups_of_cast_learns_no_more_than_c(
    others: list[str], alignment: str, c: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = METHODS["cast"](c=c, m=2, place_people=1, alignment=alignment)
    assert any("works out how groups were formed" in p.sentence for p in method.claim.protects)
    found = rebuilt_posterior(others, method, list(permutations(range(4))), monkeypatch)
    assert 0 < found <= float(Fraction(c)) + 1e-12


def test_where_people_are_kept_apart_the_groups_tell_who_was_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two shops with two people each: both are published as Shop if the two of the first shop are at the clinic."""
    method = METHODS["cast"](c="1/2", m=2, place_people=1, grouping="apart")
    assert rebuilt_posterior(NOT_SENSITIVE[0], method, [(0, 1, 2, 3)], monkeypatch) == 1.0
    assert not any("works out how groups were formed" in p.sentence for p in method.claim.protects)
    assert any("works out how groups were formed" in sentence for sentence in method.claim.not_covered)
