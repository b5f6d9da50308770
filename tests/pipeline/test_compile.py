"""Kernels are compiled before a publication needs them, and a publication does not depend on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wayveil.engines import LocalEngine
from wayveil.kernels.common import code_cache, warm
from wayveil.methods import METHODS, Kcl
from wayveil.model import Visits, parameters_of
from wayveil.pipeline import compile
from wayveil.pipeline.compile import compile_kernels
from wayveil.pipeline.publish import publish
from wayveil.recipe.defaults import default_attacks, default_metrics
from wayveil.recipe.recipe import make_recipe

METHOD = Kcl(k=2, l=2)


class Child:
    """A process of which only is known how it ended."""

    def __init__(self, code: int) -> None:
        self.code, self.waited = code, 0

    def wait(self) -> int:
        self.waited += 1
        return self.code


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache folder for the notes; the kernels of this process keep theirs."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(code_cache, "_folder", [])
    return tmp_path / "cache"


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def prepared(told: list[str]) -> Callable[[], None]:
    """Compile what a publication of METHOD needs; what is told goes into `told`."""
    engine = LocalEngine(progress=lambda step, done=0, total=None: told.append(step))
    attacks, metrics = default_attacks(Visits, Visits, claim=METHOD.claim), default_metrics(Visits, Visits)
    return lambda: compile_kernels(METHOD, attacks, metrics, engine)


def notes(cache: Path) -> set[str]:
    return {path.stem for path in cache.rglob("*.warm")}


def pretend(monkeypatch: pytest.MonkeyPatch, child: Child | None) -> list[list[str]]:
    """Start no process, but return `child`; return the lists of jobs that were asked for."""
    asked: list[list[str]] = []

    def start(names: list[str]) -> Child | None:
        asked.append(list(names))
        return child

    monkeypatch.setattr(compile, "start_warming", start)
    return asked


def test_the_slowest_job_is_done_elsewhere_and_all_else_here(
    monkeypatch: pytest.MonkeyPatch, cache: Path, prepared: Callable[[], None], told: list[str]
) -> None:
    child = Child(0)
    asked = pretend(monkeypatch, child)
    prepared()
    assert asked == [[METHOD.kernels[0]]]
    assert child.waited == 1
    assert told[0] == "compiling kernels, on the first run only"
    metrics = default_metrics(Visits, Visits)
    attacks = default_attacks(Visits, Visits, claim=METHOD.claim)
    here = {*METHOD.kernels[1:], "method-kcl-local-instances-yes-no-no"}
    here |= {f"metric-{m.name}-visits" for m in metrics} | {f"attack-{a.name}-visits" for a in attacks}
    assert notes(cache) == here


def test_what_a_crowd_in_pieces_needs_is_compiled_as_well(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    pretend(monkeypatch, None)
    compile_kernels(METHOD, (), (), LocalEngine(), ("kcl_count",))
    assert "kcl_count" in notes(cache)


def test_what_is_warm_is_not_done_again(
    monkeypatch: pytest.MonkeyPatch, cache: Path, prepared: Callable[[], None], told: list[str]
) -> None:
    pretend(monkeypatch, None)
    prepared()
    warm.mark_warm(METHOD.kernels[0])
    told.clear()
    monkeypatch.setattr(compile, "warm", lambda name: pytest.fail("done again"))
    asked = pretend(monkeypatch, None)
    prepared()
    assert (asked, told) == ([], [])


def test_without_a_cache_folder_nothing_is_done(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, prepared: Callable[[], None], told: list[str]
) -> None:
    (tmp_path / "file").write_text("a file where a folder should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(code_cache, "_folder", [])
    asked = pretend(monkeypatch, None)
    prepared()
    assert (asked, told) == ([], [])


@pytest.mark.parametrize("child", [Child(1), Child(-9), None], ids=["fails", "is killed", "does not start"])
def test_a_child_that_fails_does_not_stop_a_publication(
    monkeypatch: pytest.MonkeyPatch, cache: Path, content: dict[str, Any], child: Child | None
) -> None:
    asked = pretend(monkeypatch, child)
    outcome = publish(make_recipe(content))
    assert outcome.public is not None
    assert asked == [["kcl_suppress"]]
    assert child is None or child.waited == 1
    assert "kcl_suppress" not in notes(cache)  # it is tried again


def test_a_child_that_really_fails_does_not_stop_a_publication(
    monkeypatch: pytest.MonkeyPatch, cache: Path, content: dict[str, Any]
) -> None:
    real = warm.start_warming
    monkeypatch.setattr(compile, "start_warming", lambda names: real(["no such job"]))
    assert publish(make_recipe(content)).public is not None


def test_the_child_is_waited_for_where_a_job_here_fails(
    monkeypatch: pytest.MonkeyPatch, cache: Path, prepared: Callable[[], None]
) -> None:
    child = Child(0)
    pretend(monkeypatch, child)
    monkeypatch.setattr(compile, "warm", lambda name: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        prepared()
    assert child.waited == 1


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_can_be_rehearsed(name: str, monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    cls: Any = METHODS[name]
    moderate = {"int": 3, "fraction": "0.5", "number": 50, "duration": "10", "groups": {"A": ["a"]}, "sensitive": {}}
    method = cls(**{p.name: moderate[p.kind] for p in parameters_of(cls) if p.required})
    ended: list[str] = []
    real = cls.run
    monkeypatch.setattr(cls, "run", lambda *given, **more: (real(*given, **more), ended.append("well"))[0])
    compile._rehearse(method)
    assert ended == ["well"]
    broken = {"run": lambda *given, **more: 1 // 0}
    monkeypatch.setattr(cls, "run", broken["run"])
    compile._rehearse(method)
