"""Compare recipes: lists become settings, and mistakes one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wayveil.comparison.comparison_recipe import load_plan
from wayveil.errors import ParameterError, UsageError
from wayveil.steps import Bucket

KCL = '[[setting]]\nmethod = "kcl"\nk = {k}\nc = 1\nl = 1\n'


def write(folder: Path, text: str, *, source: str = "visits.csv", title: str = "") -> Path:
    path = folder / "compare.toml"
    if "[output]" not in text:
        text += '[output]\npath = "out"\n'
    path.write_text(f'title = "{title}"\n[input]\npath = "{source}"\n{text}')
    return path


def plan_of(folder: Path, text: str) -> Any:
    return load_plan(write(folder, text))


def test_a_list_stands_for_one_setting_per_value(tmp_path: Path) -> None:
    text = """
    [[prepare]]
    step = "bucket"
    width = 2
    [[setting]]
    method = "kcl"
    title = "mine"
    k = [2, 5]
    c = 0.5
    l = 1
    sensitive = { ill = ["a", "b"] }
    [[setting.prepare]]
    step = "bucket"
    width = [4, 8]
    keep = "last"
    [[setting]]
    method = "kcl"
    k = 3
    c = 1
    l = 2
    """
    plan = plan_of(tmp_path, text)
    assert [s.name for s in plan.settings] == [
        "kcl k=2 c=0.5 l=1 after bucket width=4 keep=last",
        "kcl k=2 c=0.5 l=1 after bucket width=8 keep=last",
        "kcl k=5 c=0.5 l=1 after bucket width=4 keep=last",
        "kcl k=5 c=0.5 l=1 after bucket width=8 keep=last",
        "kcl k=3 c=1 l=2",
    ]
    assert plan.settings[1].steps == (Bucket(width=2), Bucket(width=8, keep="last"))
    assert plan.settings[1].method.claim.sensitive == (("ill", ("a", "b")),)
    assert [s.title for s in plan.settings] == ["mine"] * 4 + [""]
    assert plan.out == tmp_path / "out"
    assert load_plan(tmp_path / "compare.toml", tmp_path / "other").out == tmp_path / "other"


def test_equal_settings_are_run_once_and_names_differ(tmp_path: Path) -> None:
    sensitive = 'sensitive = [{ ill = ["a"] }, { ill = ["b"] }, { ill = ["a"] }]\n'
    plan = plan_of(tmp_path, KCL.format(k="[2, 2]") + sensitive)
    assert [s.name for s in plan.settings] == ["kcl k=2 c=1 l=1", "kcl k=2 c=1 l=1 (2)"]


def test_groups_can_come_from_a_table(tmp_path: Path) -> None:
    (tmp_path / "who.csv").write_text("location,adversary\na,shop\nb,shop\n")
    plan = plan_of(tmp_path, '[[setting]]\nmethod = "gsup"\np = [0.5, 0.8]\nadversaries = "@who.csv"\n')
    assert plan.settings[0].method.adversaries == (("shop", ("a", "b")),)


def test_a_value_out_of_range_fails_alone_a_wrong_name_fails_all(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, KCL.format(k='[0, 2, "x"]'))
    assert [bool(s.wrong) for s in plan.settings] == [True, False, True]
    assert "k must be an integer >= 1, got 0" in plan.settings[0].wrong
    with pytest.raises(UsageError, match=r"No setting of the recipe can be run\. kcl: k must be"):
        plan_of(tmp_path, KCL.format(k="[0, -1]"))
    with pytest.raises(ParameterError, match="no parameter 'kk'"):
        plan_of(tmp_path, KCL.format(k=2) + "kk = 3\n")
    with pytest.raises(ParameterError, match="kcl: l must be given"):
        plan_of(tmp_path, '[[setting]]\nmethod = "kcl"\nk = 2\n')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[setting]]\nmethod = "kkl"\n', "There is no method 'kkl'.*'kcl'"),
        ("[[setting]]\nk = 2\n", "must have the key 'method'"),
        ('[method]\nname = "kcl"\n', "recipe for wayveil run"),
        ("[setting]\nmethod = 'kcl'\n", "'setting' in the recipe is wrong"),
        (KCL.format(k="[]"), "1 to 1,000 settings, not 0"),
        (KCL.format(k=list(range(2, 1003))), "1 to 1,000 settings, not 1,001"),
        (KCL.format(k=list(range(2, 503))) + KCL.format(k=list(range(600, 1101))), "there are 1,002 settings"),
        (KCL.format(k=2) + "[[setting.prepare]]\nwidth = 2\n", "table with the key 'step'"),
        (KCL.format(k=2) + "[[setting.prepare]]\nstep = 'bukket'\n", "no step 'bukket'"),
        (KCL.format(k=2) + "prepare = 3\n", "'prepare' a list of tables"),
        (KCL.format(k=2) + "[compare]\nrisc = 'x'\n", r"no key 'risc' in \[compare\].*'risk'"),
        (KCL.format(k=2) + "[compare]\nrepeat = 0\n", r"'repeat' in \[compare\] is wrong"),
        (KCL.format(k=2) + "[compare]\nmax_risk = 2\n", "max_risk must be a number from 0 to 1"),
        (KCL.format(k=2) + "[compare]\nrisk = 'unknown.identity_mean'\n", "no attack 'unknown'"),
        (KCL.format(k=2) + "[compare]\nrisk = { m = 2 }\n", "key 'name' of the attack"),
        (KCL.format(k=2) + "[compare]\nrisk = { name = 'known_visits', m = 0 }\n", "known_visits: m must be"),
        (KCL.format(k=2) + "[output]\nformat = 'csv'\n", r"\[output\] must have the key 'path'"),
    ],
)
def test_mistakes_in_a_recipe_are_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        plan_of(tmp_path, text)


def test_a_recipe_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_plan(tmp_path / "none.toml")
    (tmp_path / "a.toml").write_text("= 3")
    with pytest.raises(UsageError, match="not valid TOML"):
        load_plan(tmp_path / "a.toml")
    (tmp_path / "b.toml").write_bytes(b"\xff")
    with pytest.raises(UsageError, match="not UTF-8"):
        load_plan(tmp_path / "b.toml")
