from __future__ import annotations

from typing import Any

from wayveil.recipe import catalog
from wayveil.recipe.forms import claim_words, method_forms, step_forms

KINDS = {"int", "number", "fraction", "choice", "duration", "sensitive", "groups", "text"}


def fields(forms: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [field for form in forms for field in form["parameters"]]


def test_every_entry_has_a_form_with_all_its_parameters() -> None:
    for family, forms in (("method", method_forms()), ("step", step_forms())):
        assert [form["name"] for form in forms] == list(catalog.entries(family))  # type: ignore[arg-type]
        for form in forms:
            known = catalog.parameters(family, form["name"])  # type: ignore[arg-type]
            assert [field["name"] for field in form["parameters"]] == [p.name for p in known]


def test_fields_say_what_may_be_typed() -> None:
    for field in fields(method_forms()) + fields(step_forms()):
        assert field["kind"] in KINDS
        assert field["help"]
        assert field["range"]
        assert field["required"] <= (field["default"] is None)
        assert bool(field["choices"]) or field["kind"] != "choice"
        assert field["kind"] != "fraction" or (field["low"], field["high"]) == (field["low"], 1)
    found = {(form["name"], f["name"]): f for form in (*method_forms(), *step_forms()) for f in form["parameters"]}
    assert found["nwa", "delta"]["unit"] == "m"
    assert found["clean", "max_speed"]["unit"] == "km/h"
    assert found["kcl", "k"]["low"] == 1
    assert found["kcl", "c"]["default"] == "1"


def test_steps_say_what_they_take_and_give() -> None:
    steps = {form["name"]: form for form in step_forms()}
    assert (steps["grid"]["accepts"], steps["grid"]["returns"]) == ("points", "visits")
    assert (steps["match"]["returns"], steps["match"]["needs"]) == ("routes", "network")
    assert (steps["stops"]["returns"], steps["stops"]["needs"]) == ("stops", "places")
    assert (steps["bucket"]["accepts"], steps["bucket"]["returns"], steps["bucket"]["needs"]) == (
        "visits",
        "visits",
        None,
    )


def test_a_claim_has_the_numbers_that_are_asked_for() -> None:
    words = claim_words(catalog.build("method", "kcl", {"k": 17, "l": 4}))
    assert "17 people" in words["promise"]
    assert words["covered"]
    assert words["not_covered"]
