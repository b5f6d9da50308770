"""Dominated settings, the choice for a limit, the sentence and the drawing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from wayveil.comparison.frontier import Candidate, advice, choose, dominated, draw_frontier

NUMBERS = st.integers(0, 4).map(lambda n: n / 4)


@hypothesis_settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=8), NUMBERS)
def test_frontier_and_choice_against_their_definitions(pairs: list[tuple[float, float]], limit: float) -> None:
    candidates = [Candidate(number=i, name=f"s{i}", risk=risk, loss=loss) for i, (risk, loss) in enumerate(pairs, 1)]
    beaten = dominated(candidates)
    for candidate in candidates:
        better = [
            o for o in candidates
            if (o.risk < candidate.risk and o.loss <= candidate.loss)
            or (o.risk <= candidate.risk and o.loss < candidate.loss)
        ]  # fmt: skip
        assert (candidate.number in beaten) == bool(better)
    chosen = choose(candidates, limit)
    within = [candidate for candidate in candidates if candidate.risk <= limit]
    assert (chosen is None) == (not within)
    if chosen is not None:
        assert chosen in within
        assert chosen.loss == min(candidate.loss for candidate in within)
        assert chosen.risk == min(candidate.risk for candidate in within if candidate.loss == chosen.loss)
        assert chosen.number not in beaten
    svg = draw_frontier(candidates, limit=limit, chosen=None, risk_name="r", loss_name="l", percent=True)
    assert svg.count('class="spot beaten"') == len(beaten)
    assert svg.count('class="spot best"') == len(candidates) - len(beaten)


def candidates_of(*pairs: tuple[float, float]) -> list[Candidate]:
    return [Candidate(number=i, name=f"s{i}", risk=risk, loss=loss) for i, (risk, loss) in enumerate(pairs, 1)]


def told(candidates: list[Candidate], limit: float | None) -> str:
    return advice(candidates, limit, settings=9, percent=True).replace("\xa0", " ")


def test_a_risk_that_is_the_limit_but_for_rounding_is_within_it() -> None:
    assert choose(candidates_of((0.1 + 1e-12, 0.5)), 0.1) is not None
    assert choose(candidates_of((0.1 + 1e-6, 0.5)), 0.1) is None


def test_the_sentence_says_what_to_take() -> None:
    three = candidates_of((0.05, 0.5), (0.1, 0.2), (0.3, 0.1))
    assert told(three, 0.1) == (
        "For a risk of at most 10 % take setting 2, s2 (risk 10 %, loss 20 %): it loses least of the 2 within the "
        "limit."
    )
    assert told(three, 0.06).endswith("take setting 1, s1 (risk 5 %, loss 50 %): it is the only one within the limit.")
    assert told(three, 0.01) == (
        "No setting has a risk of at most 1 %; the nearest is setting 1, s1 (risk 5 %, loss 50 %)."
    )
    assert told(three, None) == (
        "The choice is between setting 1, s1 (risk 5 %, loss 50 %) and setting 3, s3 (risk 30 %, loss 10 %): give the "
        "risk that you accept as --max-risk."
    )
    assert told(candidates_of((0.1, 0.2), (0.3, 0.4)), None).startswith("Take setting 1, s1")
    assert told([], 0.1) == "No setting can be recommended: of 9, none was published and measured."


def test_the_drawing_marks_the_choice_and_escapes_names() -> None:
    candidates = [
        Candidate(number=1, name="<b>", risk=0.1, loss=0.2),
        Candidate(number=2, name="x", risk=0.2, loss=0.1),
    ]
    svg = draw_frontier(candidates, limit=0.5, chosen=2, risk_name="<r>", loss_name="l", percent=False)
    assert "<b>" not in svg
    assert "<r>" not in svg
    assert svg.count('class="spot taken"') == 1
    assert 'class="limit"' in svg
    assert 'class="front"' in svg
    assert "nothing to draw" in draw_frontier([], limit=None, chosen=None, risk_name="", loss_name="", percent=True)
    alone = draw_frontier(candidates[:1], limit=None, chosen=None, risk_name="", loss_name="", percent=True)
    assert 'class="front"' not in alone
    assert 'class="limit"' not in alone
