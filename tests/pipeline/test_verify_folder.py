"""A published folder, judged again: every change is found, and a right hash excuses nothing."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wayveil.cli import main
from wayveil.errors import InputError, UsageError
from wayveil.pipeline.folder.secret import Secret
from wayveil.pipeline.folder.verify_folder import verify_folder
from wayveil.pipeline.publish import publish
from wayveil.recipe.recipe import make_recipe


@pytest.fixture
def public(content: dict[str, Any]) -> Path:
    found = publish(make_recipe(content)).public
    assert found is not None
    return found


def drop_row(public: Path) -> None:
    path = public / "published.csv"
    lines = path.read_text().splitlines(keepends=True)
    row = next(i for i, line in enumerate(lines) if ",3,b," in line)  # two people were at b, now one
    path.write_text("".join(lines[:row] + lines[row + 1 :]))


def forge(public: Path, **changes: Any) -> None:
    path = public / "manifest.json"
    manifest = json.loads(path.read_text())
    content = (public / "published.csv").read_bytes()
    manifest["files"]["published.csv"] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    text = json.dumps({**manifest, **changes}, sort_keys=True, indent=2, ensure_ascii=False)
    path.write_text(f"{text}\n")


def test_an_untouched_folder_holds(public: Path) -> None:
    for folder in (public, public.parent, str(public)):
        judgement = verify_folder(folder)
        assert judgement.holds
        assert judgement.manifest_sha256 == hashlib.sha256((public / "manifest.json").read_bytes()).hexdigest()


@pytest.mark.parametrize("key", ["promise", "covered", "not_covered", "protects"])
def test_the_words_of_a_manifest_must_be_those_of_its_claim(public: Path, key: str) -> None:
    said = json.loads((public / "manifest.json").read_text())[key]
    better = said.replace("2 people", "1000 people") if isinstance(said, str) else said[:-1]
    assert better != said
    forge(public, **{key: better})
    judgement = verify_folder(public)
    assert judgement.failures == (f"the manifest's own words under '{key}' are not those of its claim",)
    assert "1000" not in judgement.promise
    assert judgement.exit_code == 1


@pytest.fixture
def owned(content: dict[str, Any], tmp_path: Path) -> Path:
    """The same with owners, who are not published: files alone cannot show how many people there are."""
    path = Path(content["input"]["path"])
    header, *rows = path.read_text().splitlines()
    named = tmp_path / "named.csv"
    named.write_text("\n".join([f"{header},user_id", *(f"{row},u{row.split(',')[0]}" for row in rows)]) + "\n")
    content["input"]["path"] = str(named)
    content["input"].pop("owners", None)
    publish(make_recipe(content), secret=Secret(b"7" * 16))
    return tmp_path / "out"


def test_what_files_do_not_show_is_neither_held_nor_failed(owned: Path) -> None:
    judgement = verify_folder(owned)
    assert judgement.failures == ()
    assert judgement.holds is None
    assert judgement.exit_code == 3
    assert judgement.to_json()["holds"] is None
    assert any("owner" in part for part in judgement.not_judged)


def test_the_owner_judges_everything_again(owned: Path, tmp_path: Path) -> None:
    judgement = verify_folder(owned, original=tmp_path / "named.csv")
    assert judgement.failures == judgement.not_judged == ()
    assert judgement.holds is True
    assert judgement.verdict is not None
    assert judgement.verdict.counted == "owners"

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("recipe.toml", "secret.txt"):
        (owned / "private" / name).rename(elsewhere / name)
    with pytest.raises(UsageError, match="give it with --recipe"):
        verify_folder(owned, original=tmp_path / "named.csv")
    given = {"recipe": elsewhere / "recipe.toml", "secret": elsewhere / "secret.txt"}
    assert verify_folder(owned, original=tmp_path / "named.csv", **given).holds
    with pytest.raises(UsageError, match="--original"):
        verify_folder(owned, secret=given["secret"])


def test_another_original_or_secret_gives_other_files(owned: Path, tmp_path: Path) -> None:
    lines = (tmp_path / "named.csv").read_text().splitlines(keepends=True)
    other = tmp_path / "other.csv"
    other.write_text("".join(line for line in lines if not line.startswith("4,")))
    judgement = verify_folder(owned, original=other)
    assert judgement.holds is False
    assert "other files come out" in judgement.failures[0]
    wrong = tmp_path / "wrong.txt"
    wrong.write_text("ab" * 16)
    assert verify_folder(owned, original=tmp_path / "named.csv", secret=wrong).holds is False


def test_private_files_of_another_run_are_not_taken(owned: Path, content: dict[str, Any], tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    shutil.copytree(owned / "private", kept)
    content["output"]["overwrite"] = True
    publish(make_recipe(content), secret=Secret(b"8" * 16))
    shutil.rmtree(owned / "private")
    kept.rename(owned / "private")  # as after a kill between the two
    with pytest.raises(UsageError, match="do not belong to") as caught:
        verify_folder(owned, original=tmp_path / "named.csv")
    assert "\n" not in str(caught.value)
    assert verify_folder(owned).failures == ()
    private = owned / "private"
    (private / "secret.txt").write_text("38" * 16)
    given = {"recipe": private / "recipe.toml", "secret": private / "secret.txt"}
    assert verify_folder(owned, original=tmp_path / "named.csv", **given).holds


def test_another_version_proves_nothing(owned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wayveil.pipeline.folder.verify_folder.versions", lambda: {"wayveil": "0"})
    judgement = verify_folder(owned, original=tmp_path / "named.csv")
    assert judgement.holds is None
    assert "another version" in judgement.not_judged[0]


def test_a_manifest_in_another_form_fails(public: Path) -> None:
    path = public / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text())))
    assert verify_folder(public).failures == ("manifest.json is not in the form in which it is written",)


def test_a_name_that_stands_there_twice_is_refused(public: Path) -> None:
    path = public / "manifest.json"
    path.write_text(path.read_text().replace('"rows":', '"rows": 1,\n  "rows":', 1))
    with pytest.raises(InputError, match="not valid JSON"):
        verify_folder(public)


def test_only_plain_files_are_read(public: Path, tmp_path: Path) -> None:
    table, manifest = public / "published.csv", public / "manifest.json"
    elsewhere = tmp_path / "elsewhere.csv"
    table.rename(elsewhere)
    table.symlink_to(elsewhere)
    assert any("published.csv is missing or cannot be read" in failure for failure in verify_folder(public).failures)
    table.unlink()
    os.mkfifo(table)
    assert any("published.csv is missing or cannot be read" in failure for failure in verify_folder(public).failures)
    manifest.unlink()
    os.mkfifo(manifest)
    with pytest.raises(InputError, match=r"nothing is published there"):
        verify_folder(public)


def test_files_and_columns_are_a_closed_list(public: Path) -> None:
    manifest = json.loads((public / "manifest.json").read_text())
    (public / "names\x1b[2J.csv").write_text("somebody")
    content = (public / "names\x1b[2J.csv").read_bytes()
    facts = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    forge(public, files={**manifest["files"], "names\x1b[2J.csv": facts})
    (failure,) = verify_folder(public).failures
    assert failure == "1 in the manifest that no publication has: 'names\\x1b[2J.csv'"
    (public / "names\x1b[2J.csv").unlink()
    columns = manifest["schema"]["columns"]
    renamed = [{**columns[0], "type": "a name"}, *columns[1:]]
    forge(public, files=manifest["files"], schema={**manifest["schema"], "columns": renamed})
    assert verify_folder(public).failures == ("the manifest lists other columns than data of this kind have",)


def test_one_table_is_one_table(public: Path) -> None:
    manifest = json.loads((public / "manifest.json").read_text())
    (public / "published-00001.csv").write_bytes((public / "published.csv").read_bytes())
    forge(public, files={**manifest["files"], "published-00001.csv": manifest["files"]["published.csv"]})
    with pytest.raises(InputError, match="one table, and lists several"):
        verify_folder(public)
    # The same trajectories in two parts: each keeps the claim, both together tell twice of one person.
    (public / "published.csv").rename(public / "published-00002.csv")
    files = {f"published-0000{part}.csv": manifest["files"]["published.csv"] for part in (1, 2)}
    path = public / "manifest.json"
    many = {"rows": 2 * manifest["rows"], "trajectories": 2 * manifest["trajectories"], "files": files}
    forged = {**manifest, **many, "schema": {**manifest["schema"], "parts": "each"}}
    path.write_text(json.dumps(forged, sort_keys=True, indent=2, ensure_ascii=False) + "\n")
    assert any("stands in several parts" in failure for failure in verify_folder(public).failures)


@pytest.mark.parametrize("number", ["1e-999999999", "1/" + "9" * 5000, "0." + "1" * 5000, "nan", "1e-999"])
def test_no_number_of_a_claim_keeps_anybody_waiting(public: Path, number: str) -> None:
    manifest = json.loads((public / "manifest.json").read_text())
    forge(public, claim={**manifest["claim"], "c": number})
    with pytest.raises(InputError, match="c must be a number from 0 to 1"):
        verify_folder(public)


def test_every_failure_is_reported(public: Path) -> None:
    drop_row(public)
    (public / "notes.txt").touch()
    judgement = verify_folder(public)
    assert not judgement.holds
    text = "\n".join(judgement.failures)
    for words in ("size of published.csv differs", "hash of published.csv differs", "notes.txt", "28 rows", "claim"):
        assert words in text
    assert judgement.verdict is not None
    assert judgement.verdict.witness is not None


def test_a_forged_hash_does_not_help(public: Path) -> None:
    drop_row(public)
    forge(public, rows=28)
    judgement = verify_folder(public)
    assert [failure for failure in judgement.failures if "claim" not in failure] == []
    assert not judgement.holds
    assert judgement.verdict is not None
    assert judgement.verdict.witness is not None


def test_a_table_that_is_gone_or_garbled_is_a_failure(public: Path) -> None:
    (public / "published.csv").write_bytes(b"\x00\xff")
    judgement = verify_folder(public)
    assert any("cannot be read" in failure for failure in judgement.failures)
    (public / "published.csv").unlink()
    judgement = verify_folder(public)
    assert any("missing" in failure for failure in judgement.failures)
    assert judgement.verdict is None


def test_a_manifest_that_admits_failure_does_not_hold(public: Path) -> None:
    manifest = json.loads((public / "manifest.json").read_text())
    forge(public, verdict={**manifest["verdict"], "holds": False})
    assert verify_folder(public).failures


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda m: "{", "not valid JSON"),
        (lambda m: "[" * 100_000, "not valid JSON"),
        (lambda m: "\ud800", "not valid JSON"),
        (lambda m: [], "no format number"),
        (lambda m: {**m, "format": 1}, "format 1; this version reads format 2"),
        (lambda m: {**m, "format": {}}, "this version reads format 2"),
        (lambda m: {**m, "rows": "29"}, "garbled at 'rows'"),
        (lambda m: {**m, "extra": 1}, "garbled at 'extra'"),
        (lambda m: {k: v for k, v in m.items() if k != "claim"}, "garbled at 'claim'"),
        (lambda m: {**m, "claim": {**m["claim"], "name": "KCLL"}}, "names no guarantee"),
        (lambda m: {**m, "claim": {**m["claim"], "k": 0}}, "k must be an integer"),
        (lambda m: {**m, "claim": {**m["claim"], "q": 0}}, "missing or unknown parameters"),
        (lambda m: {**m, "files": {}}, "lists no published table"),
        (lambda m: {**m, "files": {**m["files"], "../x": m["files"]["published.csv"]}}, "outside its folder"),
    ],
)
def test_a_wrong_manifest_is_bad_input(public: Path, change: Any, sentence: str) -> None:
    path = public / "manifest.json"
    changed = change(json.loads(path.read_text()))
    text = changed if isinstance(changed, str) else json.dumps(changed)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(InputError, match=sentence):
        verify_folder(public)


def test_no_manifest_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing is published there"):
        verify_folder(tmp_path)
    with pytest.raises(InputError, match="nothing is published there"):
        verify_folder(tmp_path / "missing")


def test_with_the_original_and_the_secret_it_is_known_how_members_were_placed(tmp_path: Path) -> None:
    rows = [f"{i},p{i},{t},{10 * i + t},{t}" for i in range(4) for t in range(3)]
    (tmp_path / "points.csv").write_text("\n".join(["traj_id,user_id,t,x,y", *rows, ""]))
    recipe = {
        "input": {"path": str(tmp_path / "points.csv"), "crs": "planar"},
        "method": {"name": "nwa", "k": 2, "delta": 5},
        "attacks": [],
        "metrics": [],
        "output": {"path": str(tmp_path / "out"), "format": "csv"},
    }
    publish(make_recipe(recipe))
    alone = verify_folder(tmp_path / "out")
    assert alone.holds is None
    assert "how members were placed" in [part.split(":")[0] for part in alone.not_judged]
    assert alone.assumed == ()
    judgement = verify_folder(tmp_path / "out", original=tmp_path / "points.csv")
    assert judgement.holds is True
    assert judgement.not_judged == ()
    assert [part for part in judgement.assumed if "drawn at random" in part] == list(judgement.assumed) != []
    # with another secret other offsets are drawn, so that nothing is known of how these came about
    (tmp_path / "other.txt").write_text(f"{'ab' * 32}\n")
    other = verify_folder(tmp_path / "out", original=tmp_path / "points.csv", secret=tmp_path / "other.txt")
    assert other.holds is False
    assert other.assumed == ()


def test_attributes_outside_the_claim_are_told_every_time(
    content: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    content["method"] = {"name": "kcl", "k": 2, "l": 1}
    content["output"]["keep"] = ["diagnosis"]
    folder = publish(make_recipe(content)).public
    assert folder is not None
    told = "The attribute 'diagnosis' is published as it is; the promise does not cover it."
    assert verify_folder(folder).notes == (told,)
    assert main(["verify", str(folder)]) == 0
    assert told in " ".join(capsys.readouterr().out.split())
    drop_row(folder)
    assert told in verify_folder(folder).notes


def test_the_parameters_of_a_method_are_those_of_its_claim(public: Path) -> None:
    said = json.loads((public / "manifest.json").read_text())["parameters"]
    forge(public, parameters={**said, "k": 1000})
    assert verify_folder(public).failures == ("the parameters of the method are not those of the claim",)
    forge(public, parameters={**said, "somebody": "was here"})
    assert verify_folder(public).failures == ("the manifest tells of a method or parameters that there are not",)
    forge(public, parameters=said, method="nwa")
    assert verify_folder(public).exit_code == 1


def test_the_claim_has_one_form(public: Path) -> None:
    said = json.loads((public / "manifest.json").read_text())["claim"]
    forge(public, claim={**said, "c": said["c"] + "0"})
    assert "the claim is not in the form in which it is written" in verify_folder(public).failures


def change(public: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    """Change the manifest, and let it tell size and hash of the table as it is."""
    manifest = json.loads((public / "manifest.json").read_text())
    edit(manifest)
    for name in manifest["files"]:
        content = (public / name).read_bytes()
        manifest["files"][name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    text = json.dumps(manifest, sort_keys=True, indent=2, ensure_ascii=False)
    (public / "manifest.json").write_text(text + "\n")


@pytest.mark.parametrize(
    "measured",
    [{"min_support": 999}, {"max_confidence": 0.0}, {"max_confidence_exact": "0/1"}, {"visits": 1}, {"note": "alice"},
     {"min_support_note": "alice"}],
)  # fmt: skip
def test_the_numbers_of_a_manifest_are_those_of_its_files(public: Path, measured: dict[str, Any]) -> None:
    change(public, lambda manifest: manifest["verdict"]["measured"].update(measured))
    [failure] = verify_folder(public).failures
    assert "verdict tells" in failure


def test_nothing_hides_in_what_was_not_judged(public: Path) -> None:
    change(public, lambda manifest: manifest["verdict"]["not_judged"].append("alice"))
    assert verify_folder(public).holds is False


def test_people_who_were_declared_are_not_those_of_the_input(public: Path) -> None:
    change(public, lambda manifest: manifest.update(each_trajectory_is_a_person=False))
    assert verify_folder(public).holds is False


def test_numbers_by_owner_are_no_more_than_those_by_trajectory(owned: Path) -> None:
    public = owned / "public" if (owned / "public").is_dir() else owned
    assert verify_folder(public).holds is None
    change(public, lambda manifest: manifest["verdict"]["measured"].update(min_support=10**6))
    assert verify_folder(public).holds is False


@pytest.mark.parametrize(
    "measured",
    [
        {"visits": 10**6},
        {"trajectories": 1},
        {"min_support": 0},
        {"max_owner_share": 0.99, "max_owner_share_exact": "99/100"},
        {"max_owner_share": 0.01},
        {"max_owner_share_exact": "1/100"},
        {"max_confidence": 0.75, "max_confidence_exact": "3/4"},
        {"max_confidence": -0.5},
        {"sequences": -1},
    ],
)
def test_numbers_by_owner_keep_the_promise_and_the_others_are_those_of_the_files(
    owned: Path, measured: dict[str, Any]
) -> None:
    """People were counted when it was published, trajectories are counted now: that is no leave to say anything."""
    change(owned / "public", lambda manifest: manifest["verdict"]["measured"].update(measured))
    [failure] = verify_folder(owned).failures
    assert failure.startswith("the manifest's verdict tells other numbers than the files: ")


def publish_padded(folder: Path, owners: str) -> Path:
    """Publish routes of three people each, filled up with dummies."""
    (folder / "roads.csv").write_text("road,from_node,to_node\nAB,A,B\nBC,B,C\nCA,C,A\n")
    header = "traj_id,user_id,seq,road" if owners == "given" else "traj_id,seq,road"
    rows = [header]
    for i, route in enumerate([("AB", "BC"), ("BC", "CA"), ("CA", "AB")] * 3):
        for at, road in enumerate(route):
            rows.append(f"t{i},{f'u{i},' if owners == 'given' else ''}{at},{road}")
    (folder / "routes.csv").write_text("\n".join(rows) + "\n")
    source = {"path": str(folder / "routes.csv"), "kind": "routes", "network": str(folder / "roads.csv")}
    recipe = {
        "input": source if owners == "given" else {**source, "owners": owners},
        "method": {"name": "icba", "k": 4, "pad": "yes"},
        "output": {"path": str(folder / "padded")},
    }
    publish(make_recipe(recipe), secret=Secret(b"7" * 16))
    return folder / "padded"


@pytest.mark.parametrize("owners", ["given", "each-trajectory"])
def test_dummies_are_told_by_who_made_them(tmp_path: Path, owners: str) -> None:
    padded = publish_padded(tmp_path, owners)
    judgement = verify_folder(padded)
    assert judgement.failures == ()
    assert any(part.startswith("dummies: ") for part in judgement.not_judged)
    said = json.loads((padded / "public" / "manifest.json").read_text())["verdict"]
    assert said["counted"] == ("owners" if owners == "given" else "trajectories")
    assert (said["measured"]["min_support"], said["measured"]["min_people"]) == (4, 3)
    for people in (2, 5):  # half of k, and more than trajectories
        change(padded / "public", lambda manifest, n=people: manifest["verdict"]["measured"].update(min_people=n))
        [failure] = verify_folder(padded).failures
        assert failure == "the manifest's verdict tells other numbers than the files: min_people"


@pytest.mark.parametrize(
    "versions", [{"note": "1"}, {"wayveil": "alice is 01e9"}, {"python": "3.11." + "7" * 400}, {"numpy": ""}]
)
def test_versions_hide_nothing(public: Path, versions: dict[str, str]) -> None:
    change(public, lambda manifest: manifest["versions"].update(versions))
    with pytest.raises(InputError, match="garbled at 'versions'"):
        verify_folder(public)


@pytest.mark.parametrize("text", ["a\u0301", "a\u200b", "a\x1b[31m", "a\u202eb", "a\u00a0"])
def test_texts_that_only_look_the_same_fail(public: Path, text: str) -> None:
    table = public / "published.csv"
    header, *rows = table.read_text().splitlines()
    place = rows[0].split(",")[2]
    changed = [",".join([*row.split(",")[:2], row.split(",")[2].replace(place, text), *row.split(",")[3:]])
               for row in rows]  # fmt: skip
    table.write_text("\n".join([header, *changed]) + "\n")
    change(public, lambda manifest: None)
    assert any("not in normal form" in failure for failure in verify_folder(public).failures)


def test_another_spelling_of_a_sensitive_value_fails(content: dict[str, Any], tmp_path: Path) -> None:
    """Half of those with the value were published as 'hiv': at most half have 'HIV', and all who read it know."""
    rows = [f"p{i},p{i},1,a,{'HIV' if i < 4 else 'no'}" for i in range(8)]
    (tmp_path / "ill.csv").write_text("\n".join(["traj_id,user_id,t,location,ill", *rows]) + "\n")
    content["input"] = {"path": str(tmp_path / "ill.csv"), "kind": "visits"}
    content["method"] = {"name": "kcl", "k": 2, "c": "0.5", "l": 1, "sensitive": {"ill": ["HIV"]}}
    content["output"] = {"path": str(tmp_path / "ill"), "format": "csv"}
    publish(make_recipe(content))
    table = tmp_path / "ill" / "public" / "published.csv"
    table.write_text(table.read_text().replace(",no\n", ",hiv\n"))
    change(table.parent, lambda manifest: None)
    assert any("other spellings" in failure for failure in verify_folder(table.parent).failures)
