"""The search: many settings on a small sample of whole people, the better ones on larger samples, a few on the file.

This is successive halving (Jamieson and Talwalkar, 2016).  A sample misleads towards coarse settings, because fewer
people meet in it; so the best setting of each family goes on, too, however it did.  Attacks are for the last round
alone; where none of its settings is low in risk for everybody, coarser ones of each family are searched by halves.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from wayveil.advice.settings import RECIPE, Setting
from wayveil.advice.trial import ENOUGH, Trial, try_setting
from wayveil.commands.ladder import sample_people
from wayveil.io import Loaded
from wayveil.model import Engine
from wayveil.recipe.recipe import Recipe
from wayveil.yardstick.fair_loss import RawUse, Resolution
from wayveil.yardstick.footprint import Space, trace

__all__ = ["Search", "SearchProgress", "search_low", "search_settings", "take_turns"]

SearchProgress = Callable[[str, int, int], None]
"""Called with a line, how many trials are done, and how many there are at most."""

_FIRST_ROWS = 15_000
_GROWTH = 4
_LARGEST_ROWS = 150_000
_LAST = 16
_EARLY_SHARE = 0.5
_LATE_SHARE = 0.75
_ATTACKED = 3  # times as long as without attacks
_SLOWER = 1.2  # a trial on n times as many rows is taken to last n ** 1.2 times as long


@dataclass(kw_only=True)
class Search:
    """What was tried: the trials of the last round, with attacks; how many trials there were; whether time ran out.

    `rows` are those of the last round; of a large file it is a sample of whole people.
    """

    trials: list[Trial] = field(default_factory=list)
    tried: int = 0
    out_of_time: bool = False
    rows: int = 0
    whole: bool = True


def search_settings(
    settings: Sequence[Setting],
    recipe: Recipe,
    loaded: Loaded,
    space: Space,
    resolution: Resolution,
    uses: tuple[str, ...],
    *,
    seed: int,
    budget_s: float,
    engine: Engine,
    progress: SearchProgress = lambda line, done, total: None,
) -> Search:
    """Try settings in rounds and return what the last round measured.

    The result depends on the seed and, only where time runs out, on how fast the machine is.
    """
    began = time.monotonic()
    sizes = _round_sizes(loaded.data.n_rows)
    search = Search(rows=sizes[-1], whole=sizes[-1] >= loaded.data.n_rows)
    left = take_turns(settings, recipe.method.name)
    lasted: dict[int, float] = {}
    earlier: dict[int, Trial] = {}
    total = _count_trials(len(left), len(sizes))
    # Before each round `left` are the settings that go into it, the most promising first.  A round tries them on a
    # sample and keeps the better third, with the best of each family.  The last round is on the largest sample and
    # has attacks; it begins when half of the time is over at the latest, and leaves a quarter for coarser settings.
    for number, rows in enumerate(sizes):
        last = number == len(sizes) - 1
        sample = sample_people(loaded, rows)
        use = RawUse.of(trace(sample.data, space), resolution, uses, seed=seed)
        trials: list[Trial] = []
        growth = rows / sizes[number - 1] if number else 1.0
        for setting in left:
            spent = time.monotonic() - began
            expected = lasted.get(id(setting), 0.0) * growth**_SLOWER * (_ATTACKED if last else 1)
            allowed = budget_s * (_LATE_SHARE if last else _EARLY_SHARE)
            if spent + expected > allowed and (trials or not last):
                search.out_of_time = True
                if last or spent > allowed:
                    break
                continue
            start = time.monotonic()
            trial = try_setting(setting, recipe, sample, use, space, seed=seed, attack=last, engine=engine)
            lasted[id(setting)] = time.monotonic() - start
            trials.append(trial)
            search.tried += 1
            progress(_line(trial, sample.data.n_rows), search.tried, max(total, search.tried))
        if last:
            search.trials = trials
            break
        earlier.update((id(trial.setting), trial) for trial in trials)
        tried = {id(trial.setting) for trial in trials}
        missed = [setting for setting in left if id(setting) not in tried]
        left = _promote(trials, _LAST if number == len(sizes) - 2 else max(_LAST, -(-len(left) // 3)))
        left = left or missed
        total = search.tried + _count_trials(len(left), len(sizes) - number - 1)

    def attack(setting: Setting) -> Trial | None:
        growth = sample.data.n_rows / max(earlier[id(setting)].rows, 1)
        expected = lasted[id(setting)] * growth**_SLOWER * _ATTACKED
        if time.monotonic() - began + expected > budget_s:
            search.out_of_time = True
            return None
        trial = try_setting(setting, recipe, sample, use, space, seed=seed, attack=True, engine=engine)
        search.trials.append(trial)
        search.tried += 1
        progress(_line(trial, sample.data.n_rows), search.tried, max(total, search.tried))
        return trial

    attacked = {id(trial.setting) for trial in search.trials}
    search_low([trial for key, trial in earlier.items() if key not in attacked], search.trials, attack)
    return search


def take_turns(settings: Sequence[Setting], method: str) -> list[Setting]:
    """Return settings so that families take turns, the recipe first and then families of its method.

    Where time runs out, something of every family was tried then: a family of slow settings does not take all of it.

    Examples
    --------
    >>> named = [("recipe", "kcl"), ("tga", "tga"), ("tga", "tga"), ("cells", "kcl"), ("cells", "kcl")]
    >>> some = [Setting(steps=(), method={"name": name}, words=str(i), family=of) for i, (of, name) in enumerate(named)]
    >>> [setting.words for setting in take_turns(some, "kcl")]
    ['0', '3', '1', '4', '2']
    """
    families: dict[str, list[Setting]] = {}
    for setting in settings:
        families.setdefault(setting.family, []).append(setting)
    order = sorted(families, key=lambda family: (family != RECIPE, families[family][0].method["name"] != method))
    turns = [(turn, order.index(family), setting)
             for family in order for turn, setting in enumerate(families[family])]  # fmt: skip
    return [setting for _, _, setting in sorted(turns, key=lambda one: one[:2])]


def search_low(others: Sequence[Trial], attacked: Sequence[Trial], attack: Callable[[Setting], Trial | None]) -> None:
    """Look for the setting of the least loss that is low in risk for everybody among those not attacked yet.

    Parameters
    ----------
    others : sequence of Trial
        Those of earlier rounds, without attacks; `rank` orders them by their loss.
    attacked : sequence of Trial
        Those with attacks: what loses no less than a low one of these need not be tried.
    attack : callable
        Tries a setting with attacks; None where time is over.

    Notes
    -----
    Of each family, those that keep half are halved by their loss: where the middle one is low, a finer one may be, and
    otherwise a coarser one.  A family of n settings takes at most log2(n) + 1 trials.
    """
    best = {weaker: _least_low(attacked, weaker=weaker) for weaker in (False, True)}
    families: dict[tuple[bool, str], list[Trial]] = {}
    for trial in sorted(others, key=lambda one: one.rank):
        if trial.loss is not None and trial.kept >= ENOUGH and trial.rows_kept >= ENOUGH:
            families.setdefault((bool(trial.setting.weaker), trial.setting.family), []).append(trial)
    for weaker, family in sorted(families, key=lambda key: key[0]):
        if weaker and best[False] < 1.0:
            return  # a setting with the whole promise is low: none that gives up a part of it would be taken
        pool = families[weaker, family]
        finest = 0
        coarsest = len(pool)
        # Every setting before `finest` is too risky, as far as coarser is safer; those from `coarsest` on are known to
        # be low, or lose more than one that is.
        while finest < coarsest:
            middle = (finest + coarsest) // 2
            if pool[middle].cost >= best[weaker]:
                coarsest = middle
                continue
            tried = attack(pool[middle].setting)
            if tried is None:
                return
            if tried.low:
                best[weaker] = min(best[weaker], tried.cost)
                coarsest = middle
            else:
                finest = middle + 1


def _least_low(attacked: Sequence[Trial], *, weaker: bool) -> float:
    """Return the smallest loss of a setting that is low in risk; 1 where there is none."""
    return min((one.cost for one in attacked if one.low and bool(one.setting.weaker) == weaker), default=1.0)


def _round_sizes(rows: int) -> list[int]:
    """Return how many rows there are in each round.

    Examples
    --------
    >>> _round_sizes(900), _round_sizes(60_000), _round_sizes(10_000_000)
    ([900, 900], [15000, 60000], [15000, 60000, 150000])
    """
    most = min(rows, _LARGEST_ROWS)
    sizes = [min(_FIRST_ROWS, most)]
    while sizes[-1] * _GROWTH * 1.5 < most:
        sizes.append(sizes[-1] * _GROWTH)
    return [*sizes, most]


def _count_trials(settings: int, rounds: int) -> int:
    total = 0
    for number in range(rounds):
        total += settings
        settings = min(settings, _LAST if number >= rounds - 2 else max(_LAST, -(-settings // 3)))
    return total


def _promote(trials: Sequence[Trial], most: int) -> list[Setting]:
    """Return the settings that go on, in the order in which they are worth a trial.

    A quarter of the places is for the best, a quarter for the best of each family, and the rest is spread over all
    others that keep half: how risky they are is not known yet, and those that lose more are often safer.  The recipe as
    it is comes last, whatever it did: it is what all others are compared with.
    """
    usable = sorted((trial for trial in trials if trial.loss is not None), key=lambda trial: trial.rank)
    promoted = usable[: max(1, most // 4)]
    best: dict[str, Trial] = {}
    for trial in usable:
        best.setdefault(trial.setting.family, trial)
    families = [trial for trial in best.values() if trial not in promoted]
    promoted = [*promoted, *families[: max(1, most // 4)]]
    others = [trial for trial in usable if trial not in promoted and trial.kept >= ENOUGH]
    room = min(most - len(promoted), len(others))
    promoted += [others[place * len(others) // room] for place in range(room)]
    promoted += [trial for trial in trials if trial.setting.family == RECIPE and trial not in promoted]
    return [trial.setting for trial in promoted]


def _line(trial: Trial, rows: int) -> str:
    if trial.loss is None:
        return f"{rows:,} rows: {trial.setting.words}: {trial.why.split('. ')[0].rstrip('.')}"
    risk = "" if trial.risk is None else f", risk {trial.risk.mean:.1%}"
    return f"{rows:,} rows: {trial.setting.words}: {trial.kept:.0%} of the trips left, loss {trial.cost:.0%}{risk}"
