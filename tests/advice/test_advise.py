"""Advice: the frontier, the setting to take and why, and one sentence where there is none."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from wayveil.advice import Advice, advise
from wayveil.advice.recommendation import make_advice
from wayveil.advice.search import _promote, search_low
from wayveil.advice.settings import Setting, list_settings
from wayveil.advice.trial import Risk, Trial, try_setting
from wayveil.cli.app import main
from wayveil.errors import InputError, UsageError
from wayveil.model.numbers import share
from wayveil.pipeline.folder.verify_folder import verify_folder
from wayveil.pipeline.input import load
from wayveil.pipeline.publish import publish
from wayveil.recipe.recipe import load_recipe
from wayveil.report.text.head import Exposure
from wayveil.yardstick.fair_loss import FairLoss, RawUse, Resolution
from wayveil.yardstick.footprint import make_space, trace


def test_advice_keeps_half_and_its_recipe_is_published_as_it_says(trips_recipe: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    found = advise(trips_recipe, progress=lambda line, done, total: lines.append(f"{done}/{total} {line}"))
    taken = found.recommended
    assert taken is not None
    assert taken.kept >= 0.5
    assert taken.risk is not None
    assert taken.risk.mean <= 1 / 5
    assert found.tried == len(lines)
    assert lines[-1].startswith(f"{found.tried}/{found.tried} ")
    own = next(trial for trial in found.trials if trial.setting.family == "recipe")
    assert own.cost > taken.cost
    # Two sentences, with what is left and the worst attacker before and after.
    assert found.reason.count(". ") == 1
    assert "of the trips" in found.reason
    assert "on average (before: " in found.reason
    better = tmp_path / "better.toml"
    better.write_text(found.recipe_text(tmp_path))
    recipe = load_recipe(better)
    assert (recipe.method.k, recipe.method.l) == (5, 2)
    outcome = publish(recipe)
    assert outcome.remaining.shares["trips"] == pytest.approx(taken.kept)
    assert verify_folder(tmp_path / "out").exit_code == 0
    assert any("Chosen by advise" in note for note in outcome.notes)


def test_the_command_writes_a_recipe_and_prints_the_frontier(trips_recipe: Path, capsys) -> None:
    better = trips_recipe.with_name("better.toml")
    given = [str(trips_recipe), "--use", "flows", "--resolution", "500m,30min", "--write", str(better)]
    assert main(["advise", *given]) == 0
    told = capsys.readouterr().out
    assert "at 500 m and 30 min" in told
    assert "Take setting" in told
    assert f"wayveil run {better}" in told
    content = tomllib.loads(better.read_text())
    assert content["method"]["k"] == 5
    assert main(["advise", *given]) == 2  # it is there already
    assert "exists" in capsys.readouterr().err
    given[-1] = str(better.with_name("again.toml"))
    assert main(["advise", *given, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["settings"][answer["recommended"]]["on_frontier"]
    assert Path(given[-1]).read_text() == better.read_text()  # the same recipe gives the same advice


def test_where_nothing_can_be_recommended_one_sentence_says_why(trips_recipe: Path, capsys) -> None:
    text = trips_recipe.read_text()
    trips_recipe.write_text(text.replace("k = 5", "k = 400"))
    assert main(["advise", str(trips_recipe)]) == 2
    error = capsys.readouterr().err
    assert "Nothing can be recommended: the file has rows of 300 people" in error
    assert error.count("\n") == 1
    trips_recipe.write_text(text)
    assert main(["advise", str(trips_recipe), "--max-risk", "0", "--write", str(trips_recipe.with_name("x.toml"))]) == 2
    assert "the safest is" in capsys.readouterr().err
    assert not trips_recipe.with_name("x.toml").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"use": "everything"}, "There is no use 'everything'"),
        ({"budget_minutes": 0}, "more than 0 minutes"),
        ({"resolution": "near"}, "A resolution is metres"),
        ({"max_risk": 2}, "max_risk"),
    ],
)
def test_what_is_asked_wrongly_is_said(trips_recipe: Path, options: dict, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        advise(trips_recipe, **options)


def test_one_person_cannot_be_hidden(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("traj_id,user_id,location,t\n" + "".join(f"a{i},a,p,{i}\n" for i in range(20)))
    path = tmp_path / "r.toml"
    path.write_text('[input]\npath = "a.csv"\n[method]\nname = "kcl"\nk = 2\nl = 1\n[output]\npath = "out"\n')
    with pytest.raises(InputError, match="one person"):
        advise(path)


def test_no_promise_is_weaker_unless_it_is_said(trips_recipe: Path) -> None:
    recipe = load_recipe(trips_recipe)
    raw = load(recipe.input, attributes=()).data
    listed = list_settings(recipe, raw, Resolution(metres=200.0))
    assert len({setting.words for setting in listed}) == len(listed) > 50
    for setting in listed:
        method = setting.apply(recipe).method
        assert (method.k, method.l, method.c) == (5, 2, 1)
        assert not setting.weaker


def _trial(
    words: str,
    *,
    kept: float,
    loss: float,
    risk: float,
    weaker: str = "",
    rows: float = 1.0,
    exposed: float | None = None,
) -> Trial:
    setting = Setting(steps=(), method={"name": words}, words=words, family=words, weaker=weaker)
    parts = {"flows": loss}
    return Trial(
        setting=setting,
        rows=100,
        shares={"visits": rows, "trips": kept, "people": kept},
        loss=FairLoss(parts=parts, uses=("flows",)),
        risk=Risk(attack="known_visits", mean=risk, largest=1.0, share_above=0.1, limit=0.2, mean_raw=0.9),
        exposed=None if exposed is None else _exposures(exposed),
    )


def _exposures(share_above: float) -> tuple[Exposure, ...]:
    if not share_above:
        return ()
    number = share(share_above, "People above", about="identity", statistic="share above", threshold=0.2)
    return (Exposure(attack="uniqueness", about="identity", limit=0.2, share=number, mean=None, largest=None),)


def _advice(*trials: Trial, limit: float = 0.2, given: bool = False) -> Advice:
    facts = {"resolution": Resolution(metres=100.0), "uses": ("flows",), "tried": 1, "rows": 1, "whole": True}
    return make_advice(None, trials, limit=limit, given=given, out_of_time=False, **facts)  # type: ignore[arg-type]


def test_a_setting_that_loses_almost_all_is_not_taken_for_its_low_risk() -> None:
    sparse = _trial("sparse", kept=0.005, loss=0.995, risk=0.0)
    full = _trial("full", kept=0.97, loss=0.3, risk=0.15)
    found = _advice(sparse, full)
    assert found.recommended is full
    assert found.trials.index(full) in found.frontier


def test_what_is_given_up_first() -> None:
    same = _trial("same", kept=0.6, loss=0.9, risk=0.1)
    other = _trial("other", kept=1.0, loss=0.1, risk=0.1, weaker="it hides less")
    few_rows = _trial("few", kept=0.6, loss=0.05, risk=0.1, rows=0.2)
    risky = _trial("risky", kept=1.0, loss=0.0, risk=0.5)
    riskier = _trial("riskier", kept=1.0, loss=0.0, risk=0.6)
    assert _advice(same, other, few_rows, risky).recommended is same
    found = _advice(other, few_rows, risky)
    assert found.recommended is other
    assert "mind that it hides less" in found.reason
    assert _advice(few_rows, risky).recommended is few_rows
    assert _advice(riskier, risky).recommended is risky
    assert _advice(riskier, risky, given=True).recommended is None


def test_half_of_the_trips_is_not_called_half_of_the_visits() -> None:
    few_rows = _trial("few", kept=0.91, loss=0.6, risk=0.1, rows=0.05)
    full = _trial("full", kept=1.0, loss=0.3, risk=0.5, rows=0.6)
    fuller = _trial("fuller", kept=1.0, loss=0.2, risk=0.6, rows=0.7)
    reason = _advice(few_rows, full, fuller).reason
    assert "few keeps 91 % of the trips, but less than half of the visits (5.0 %), and loses" in reason
    assert "; full keeps 100 % of the trips (60 % of the visits), at a risk of 50 %" in reason
    alone = _advice(few_rows).reason
    assert "no setting that was tried keeps half of both trips and visits" in alone
    both = _advice(_trial("both", kept=0.9, loss=0.2, risk=0.1, rows=0.8)).reason
    assert "both keeps 90 % of the trips (80 % of the visits) and loses" in both
    assert "less than half" not in both


def test_where_no_setting_keeps_half_none_is_taken() -> None:
    found = _advice(_trial("a", kept=0.3, loss=0.8, risk=0.1), _trial("b", kept=0.2, loss=0.7, risk=0.1))
    assert found.recommended is None
    assert "no setting keeps half of the trips; a keeps most, 30 %" in found.reason
    with pytest.raises(InputError, match="Nothing can be recommended"):
        found.make_recipe()
    nothing = Trial(setting=_trial("a", kept=0, loss=1, risk=0).setting, rows=1, why="It is refused.")
    assert _advice(nothing).reason.endswith("of one: It is refused.")


def test_the_next_round_has_the_best_of_each_family_and_some_of_all_others() -> None:
    trials = [_trial(f"f{i % 3}", kept=1.0, loss=i / 100, risk=0.0) for i in range(60)]
    settings = _promote(trials, 12)
    assert len(settings) == 12
    assert {setting.family for setting in settings} == {"f0", "f1", "f2"}
    assert settings[0] is trials[0].setting
    assert any(setting is trial.setting for setting in settings for trial in trials[30:])
    assert len(_promote(trials[:2], 12)) == 2
    assert _promote([], 12) == []


def test_the_price_of_a_limit_is_said_where_it_costs_most_of_the_use() -> None:
    fine = _trial("fine", kept=0.97, loss=0.2, risk=0.3)
    coarse = _trial("coarse", kept=0.99, loss=0.99, risk=0.1)
    found = _advice(fine, coarse, given=True)
    assert found.recommended is coarse
    assert "the limit costs most of the use: fine loses 20 %, at a risk of 30 % on average" in found.reason
    assert "costs" not in _advice(fine, coarse, limit=0.4, given=True).reason


def test_a_setting_that_exposes_nobody_comes_first_if_it_still_tells_most() -> None:
    fine = _trial("fine", kept=1.0, loss=0.2, risk=0.1, exposed=0.03)
    coarse = _trial("coarse", kept=1.0, loss=0.45, risk=0.05, exposed=0.0)
    useless = _trial("useless", kept=1.0, loss=0.95, risk=0.01, exposed=0.0)
    found = _advice(fine, coarse, useless)
    assert found.recommended is coarse
    assert "the least of 2 settings in which no attack finds anybody with more than its limit" in found.reason
    found = _advice(fine, useless)
    assert found.recommended is fine
    assert "the attack uniqueness can find the person with a chance above 1/5 for 3" in found.reason
    assert "with useless no attack would exceed its limit, but it loses 95 % of flows" in found.reason
    assert "no setting that was tried brings every attack below its limit" in _advice(fine).reason
    nearly = _trial("nearly", kept=1.0, loss=0.98, risk=0.1, exposed=0.0)
    costly = _trial("costly", kept=1.0, loss=0.92, risk=0.1, exposed=0.1)
    assert _advice(costly, nearly).recommended is nearly
    assert not fine.low
    assert coarse.low
    assert not _trial("rows", kept=1.0, loss=0.1, risk=0.0, rows=0.4, exposed=0.0).low


def test_coarser_settings_are_searched_by_halves_for_one_that_exposes_nobody() -> None:
    """Of a family, only settings from a loss of 30 % on are low: the least of these is found in a few trials."""
    others = [_trial("f", kept=1.0, loss=i / 40, risk=0.0) for i in range(32)]
    tried: list[float] = []

    def attack(setting: Setting) -> Trial:
        loss = next(one.cost for one in others if one.setting is setting)
        tried.append(loss)
        return _trial("f", kept=1.0, loss=loss, risk=0.1, exposed=0.0 if loss >= 0.3 else 0.2)

    search_low(others, [], attack)
    assert min(loss for loss in tried if loss >= 0.3) == 0.3
    assert len(tried) <= 6
    tried.clear()
    search_low(others, [_trial("g", kept=1.0, loss=0.25, risk=0.1, exposed=0.0)], attack)
    assert max(tried) < 0.25
    tried.clear()
    search_low(others, [], lambda setting: tried.append(0.0))
    assert len(tried) == 1  # the time is over


def test_zones_of_space_and_time_are_tried_for_what_has_one_time(trips_recipe: Path, tracks_recipe: Path) -> None:
    lasting = {}
    for path in (trips_recipe, tracks_recipe):
        recipe = load_recipe(path)
        settings = list_settings(recipe, load(recipe.input, attributes=()).data, Resolution(metres=100.0))
        lasting[path] = [setting for setting in settings if setting.family == "kcl spacetime"]
    assert not lasting[trips_recipe]
    assert {setting.steps[-1]["time"] for setting in lasting[tracks_recipe]} == {"1h"}
    assert "zones with 8+ people for 1h or longer" in lasting[tracks_recipe][0].words


def test_what_attackers_learn_of_pieces_is_what_a_run_measures(tracks_recipe: Path) -> None:
    """`knode` publishes pieces: a trial attacks each with what is known of it, as a run does."""
    recipe = load_recipe(tracks_recipe)
    loaded = load(recipe.input, attributes=())
    space = make_space(loaded.data)
    resolution = Resolution(metres=100.0)
    use = RawUse.of(trace(loaded.data, space), resolution, ("flows",), seed=1)
    own = list_settings(recipe, loaded.data, resolution)[0]
    tried = try_setting(own, recipe, loaded, use, space, seed=1, attack=True)
    outcome = publish(recipe)
    assert outcome.verdict.measured["trajectories"] > 24  # pieces, more than there are tracks
    by_name = {after.name: after for _, after in outcome.attacks}
    assert tried.risk is not None
    assert tried.risk.mean == by_name[tried.risk.attack].measured["identity_mean"]
    assert {one.attack for one in tried.exposed or ()} == {one.attack for one in outcome.head.exposed}
