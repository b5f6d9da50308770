from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from wayveil.errors import WayveilError
from wayveil.recipe.recipe import make_recipe
from wayveil.web.answers import Refused
from wayveil.web.request import read_request, with_uploads

ROWS = b"traj_id,t,location\na,1,x\n"
KCL = {"name": "kcl", "k": 2, "l": 2}


@pytest.fixture
def upload(box: Any) -> Any:
    def upload(name: str, role: str = "data") -> str:
        id: str = box.client().post("/api/files", params={"name": name, "role": role}, content=ROWS).json()["id"]
        return id

    return upload


def publish(file: Any, **more: Any) -> dict[str, Any]:
    return {"what": "publish", "recipe": {"input": {"file": file}, "method": KCL, **more}}


def test_the_recipe_names_files_as_people_do_and_has_a_seed(box: Any, upload: Any) -> None:
    file, owners = upload("visits of May.csv"), upload("people.csv", "owners")
    posted = publish(
        file,
        input={"file": file, "owners": [owners], "columns": {"t": "when"}, "kind": None, "network": None},
        method={"name": "kcl", "k": "2", "l": 2, "c": "0.5", "sensitive": {"ill": ["flu"]}, "validity": None,
                "min_support": "", "preserve": "mfs"},
        prepare=[{"step": "bucket", "width": "1h"}],
        output={"format": "csv", "keep": ["ill"], "with_raw": None},
    )  # fmt: skip
    asked = read_request(posted, box.files)
    assert (asked.what, asked.method, asked.file, asked.file_id) == ("publish", "kcl", "visits of May.csv", file)
    assert asked.title == "kcl: visits of May.csv"
    content = tomllib.loads(asked.text)
    assert content["input"] == {"path": "visits of May.csv", "columns": {"t": "when"}, "owners": ["people.csv"]}
    assert content["output"] == {"path": "publication", "format": "csv", "keep": ["ill"]}
    assert content["method"]["k"] == 2
    assert content["seed"] >= 2**64
    recipe = make_recipe(content)
    assert recipe.method.claim.sensitive == (("ill", ("flu",)),)
    paths = {id: Path("x", id) for id in asked.names}
    spec = with_uploads(recipe.input, asked.uploads, paths)
    assert (spec.path, spec.owners) == (Path("x", file), (Path("x", owners),))


def test_a_declaration_is_part_of_the_recipe_and_of_the_promise(box: Any, upload: Any) -> None:
    file = upload("a.csv")
    asked = read_request(publish(file, input={"file": file, "owners": "each-trajectory"}), box.files)
    assert tomllib.loads(asked.text)["input"]["owners"] == "each-trajectory"
    assert asked.claim is not None
    assert "The publisher declared that each trajectory is another person" in asked.claim["promise"]
    spec = with_uploads(make_recipe(tomllib.loads(asked.text)).input, asked.uploads, {file: Path("x", file)})
    assert spec.each_trajectory
    other = read_request(publish(file), box.files)
    assert other.claim is not None
    assert "declared" not in other.claim["promise"]


def test_what_similar_ids_are_is_part_of_the_recipe(box: Any, upload: Any) -> None:
    file = upload("a.csv")
    for said in ("different", "same"):
        given = {"file": file, "similar_ids": said}
        assert tomllib.loads(read_request(publish(file, input=given), box.files).text)["input"]["similar_ids"] == said
        risk = read_request({"what": "risk", "recipe": {"input": given, "prepare": []}}, box.files)
        assert risk.content["input"]["similar_ids"] == said
    # The page sends null where nothing was chosen.
    unsaid = read_request(publish(file, input={"file": file, "similar_ids": None}), box.files)
    assert "similar_ids" not in tomllib.loads(unsaid.text)["input"]


def test_without_a_seed_each_run_has_its_own(box: Any, upload: Any) -> None:
    file = upload("a.csv")
    seeds = [tomllib.loads(read_request(publish(file), box.files).text)["seed"] for _ in range(2)]
    assert seeds[0] != seeds[1]
    assert tomllib.loads(read_request(publish(file, seed=7), box.files).text)["seed"] == 7


def test_a_risk_is_checked_too(box: Any, upload: Any) -> None:
    file = upload("a.csv")
    recipe = {"input": {"file": file}, "prepare": [{"step": "bucket", "width": "1h"}], "sensitive": {"ill": ["flu"]}}
    asked = read_request({"what": "risk", "recipe": recipe}, box.files)
    assert (asked.title, asked.method, asked.text) == ("Risk in a.csv", None, "")
    assert asked.content["prepare"] == [{"step": "bucket", "width": "1h"}]
    for wrong in ({"sensitive": {"ill": "flu"}}, {"sensitive": {"ill": []}}, {"prepare": [{"step": "bucket"}]},
                  {"method": KCL}, {"input": {"file": file, "kind": "cars"}}, {"sensitive": {"ill": [1]}}):  # fmt: skip
        with pytest.raises(WayveilError):
            read_request({"what": "risk", "recipe": {**recipe, **wrong}}, box.files)


def test_a_file_that_is_not_there_is_refused(box: Any) -> None:
    for id in ("0" * 32, "../../etc/passwd", 7, ["x"], {"a": 1}):
        with pytest.raises((Refused, WayveilError)):
            read_request(publish(id), box.files)


def test_two_files_of_one_name_are_refused(box: Any, upload: Any) -> None:
    file = upload("a.csv")
    with pytest.raises(WayveilError, match="same name"):
        read_request(publish(file, input={"file": file, "known": upload("a.csv", "known")}), box.files)
    assert read_request(publish(file, input={"file": file, "known": file}), box.files).names == {file: "a.csv"}


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"what": "delete"}, "publish, risk or advise"),
    ({"title": "x" * 201}, "title"),
    ({"title": "a\nb"}, "title"),
    ({"title": 7}, "title"),
    ({"recipe": None}, "recipe must be an object"),
    ({"recipe": {"input": {}}}, "which uploaded file"),
    ({"recipe": {"input": {"path": "/etc/passwd"}}}, "which uploaded file"),
    ({"input": {"file": "FILE", "path": "/etc/passwd"}}, "which uploaded file"),
    ({"input": {"file": "FILE", "owners": "FILE"}}, "must be a list"),
    ({"input": {"file": "FILE", "owners": "each-trajectory", "columns": {"user_id": "a"}}}, "give one of them"),
    ({"input": {"file": "FILE", "colums": {}}}, "Did you mean 'columns'"),
    ({"input": {"file": "FILE", "kind": "cars"}}, "kind"),
    ({"input": {"file": "FILE", "similar_ids": "perhaps"}}, "similar_ids"),
    ({"output": {"path": "/etc"}}, "not 'path'"),
    ({"output": {"overwrite": True}}, "not 'overwrite'"),
    ({"output": {"format": "xls"}}, "format"),
    ({"output": {"format": "geojson"}}, "GeoJSON"),
    ({"attacks": [{"name": "nothing"}]}, "nothing"),
    ({"attacks": "all"}, "attacks must be a list"),
    ({"engine": "dask"}, "not 'engine'"),
    ({"seed": -1}, "seed"),
    ({"seed": True}, "seed"),
    ({"seed": "7"}, "seed"),
    ({"method": None}, "method must be an object"),
    ({"method": {"k": 2}}, "say its name"),
    ({"method": {"name": "kcl"}}, "must be given"),
    ({"method": {"name": "nope"}}, "There is no method"),
    ({"method": {**KCL, "k": "two"}}, "k must be an integer"),
    ({"method": {**KCL, "k": 0}}, "k must be an integer"),
    ({"method": {**KCL, "kk": 1}}, "no parameter 'kk'"),
    ({"method": {"name": "gsup", "p": "0.5", "adversaries": "@/etc/passwd"}}, "must not begin with '@'"),
    ({"method": {**KCL, "preserve": "@/etc/passwd"}}, "must not begin with '@'"),
    ({"prepare": [{"step": "slices", "periods": "@x"}]}, "must not begin with '@'"),
    ({"prepare": [{"step": "grid", "cell": 1, "bucket": "1h"}], "input": {"file": "FILE", "kind": "visits"}}, "needs"),
    ({"prepare": "bucket"}, "must be a list"),
    ({"prepare": [7]}, "must be an object"),
]


@pytest.mark.parametrize(("change", "said"), WRONG, ids=[json.dumps(change)[:50] for change, _ in WRONG])
def test_what_cannot_be_run_is_refused_with_a_sentence(box: Any, upload: Any, change: Any, said: str) -> None:
    file = upload("a.csv")
    change = json.loads(json.dumps(change).replace("FILE", file))
    outer = {key: change.pop(key) for key in ("what", "title", "recipe") if key in change}
    posted = {**publish(file, **change), **outer}
    answer = box.client().post("/api/runs", json=posted)
    assert answer.status_code == 400
    assert said in answer.json()["error"]
    assert list((box.folder / "runs").iterdir()) == []


def test_every_method_can_be_asked_for_with_its_example(box: Any, upload: Any) -> None:
    file = upload("a.csv")
    for method in box.client().get("/api/methods").json():
        posted = publish(file, method={"name": method["name"], **method["example"]})
        recipe = make_recipe(tomllib.loads(read_request(posted, box.files).text))
        assert recipe.method.name == method["name"]
        # What is measured is what `wayveil run` measures: nothing is added to the recipe.
        assert recipe.attacks is None
        assert recipe.metrics is None


ENDLESS = ["1e-999999999", "1e999999999", "-1e-999999999", "1/" + "9" * 5000, "0." + "1" * 5000, "9" * 5000, "1e-5000"]


@pytest.mark.parametrize("number", ENDLESS, ids=range(len(ENDLESS)))
def test_no_number_keeps_the_server_busy(box: Any, upload: Any, number: str) -> None:
    """Some of these are numbers of a billion digits: whoever writes them out is gone for days."""
    file, client = upload("a.csv"), box.client()
    for method in client.get("/api/methods").json():
        known = {p["name"]: p for p in method["parameters"]}
        for name, parameter in known.items():
            if parameter["kind"] not in ("int", "number", "fraction", "duration"):
                continue
            given = {"name": method["name"], **method["example"], name: number}
            answers = [
                client.post("/api/claim", json={"method": given}),
                client.post("/api/runs", json=publish(file, method=given)),
            ]
            # A float can be so small that it is nothing, which some parameters may be.
            assert {answer.status_code for answer in answers} in ({400}, {200, 201}), (method["name"], name)
            if parameter["kind"] != "number":
                assert answers[0].status_code == 400, (method["name"], name)
                assert "must be" in answers[0].json()["error"]
    for width in (number, f"{number}h"):
        step = {"step": "bucket", "width": width}
        answer = client.post("/api/runs", json=publish(file, prepare=[step]))
        assert answer.status_code == 400
    assert client.post("/api/runs", content=f'{{"what": {number}}}'.encode()).status_code == 400


def test_numbers_of_a_table_keep_nobody_waiting(box: Any) -> None:
    rows = "".join(f"{number},{number},{number},{number}\n" for number in ENDLESS)
    content = f"traj_id,t,x,y\n{rows}".encode()
    id = box.client().post("/api/files", params={"name": "a.csv", "role": "data"}, content=content).json()["id"]
    assert box.client().get(f"/api/files/{id}/preview").status_code in (200, 400)


def test_a_search_for_settings_has_a_recipe_and_its_limits(box: Any, upload: Any) -> None:
    file = upload("a.csv")
    source = {"input": {"file": file, "owners": "each-trajectory"}, "method": KCL}
    search = {"use": "flows", "max_risk": 0.2, "budget_minutes": 3}
    asked = read_request({"what": "advise", "recipe": {**source, **search}}, box.files)
    assert (asked.what, asked.title, asked.method) == ("advise", "Settings for a.csv", "kcl")
    assert asked.content == search
    assert make_recipe(tomllib.loads(asked.text)).method.k == 2
    for wrong in ({"use": "fun"}, {"max_risk": 0}, {"max_risk": 2}, {"max_risk": True}, {"budget_minutes": 1e9}):
        with pytest.raises(WayveilError, match=next(iter(wrong))):
            read_request({"what": "advise", "recipe": {**source, **wrong}}, box.files)
    with pytest.raises(WayveilError, match="takes"):
        read_request({"what": "advise", "recipe": {**source, "output": {}}}, box.files)
