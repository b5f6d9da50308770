"""Files without a header: no command repeats a value of their first row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from wayveil.cli import main
from wayveil.commands.first_look import preview
from wayveil.errors import WayveilError
from wayveil.io import from_polars, read_groups, read_network, read_places, read_taxonomy

HEADLESS = {
    "numbers": ["Quilla,1717143300,Zoobar", "Quilla,1717143400,Yardley"],
    "iso": ["Quilla,2024-05-31T08:15:00,Zoobar", "Quilla,2024-05-31T09:15:00,Zoobar"],
    "german dates": ["Quilla,31.05.2024 08:15,Zoobar", "Quilla,31.05.2024 09:15,Zoobar"],
    "american dates": ["Quilla,5/31/2024 8:15,Zoobar", "Quilla,5/31/2024 9:15,Zoobar"],
    "long dates": ["Quilla,Tue Apr 03 18:00:09 +0000 2012,Zoobar", "Quilla,Tue Apr 03 19:00:09 +0000 2012,Zoobar"],
    "clock": ["Quilla,08:15,Zoobar", "Quilla,09:15,Zoobar"],
    "degrees": ["Quilla,monday,48.2082,16.3738", "Quilla,monday,48.2082,16.3738"],
    "pairs": ['Quilla,monday,"48.2082, 16.3738"', 'Quilla,monday,"48.2082, 16.3738"'],
    "wkt": ["Quilla,monday,POINT (16.3738 48.2082)", "Quilla,monday,POINT (16.3738 48.2082)"],
    "text that comes again": ["Quilla,monday,Zoobar", "Quilla,tuesday,Yardley"],
    "text with numbers": ["Quilla7,8am,Zoobar12", "Quilla8,9am,Zoobar13"],
    "other text": ["Quilla,monday,Zoobar", "Peppa,tuesday,Yardley"],
    "semicolons": ["Quilla;08:15;Zoobar", "Quilla;09:15;Zoobar"],
    "bars": ["Quilla|08:15|Zoobar", "Quilla|09:15|Zoobar"],
    "repeated": ["Quilla,Quilla,Zoobar", "Quilla,Quilla,Zoobar"],
    "card": ["card 99120007,monday,Zoobar", "card 99120008,tuesday,Zoobar"],
    "mail": ["quilla@zoobar.org,monday,Zoobar", "peppa@zoobar.org,monday,Zoobar"],
}
SECRETS = ("quilla", "zoobar", "yardley", "peppa", "17171", "2024", "2012", "48.20", "16.37", "08:15", "8:15", "monday",
           "8am", "9912")  # fmt: skip
VALID = "traj_id,user_id,t,location\na,u,1,x\nb,v,1,x\n"


def write(folder: Path, name: str, lines: list[str]) -> Path:
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / name


def silent(text: str, folder: Path) -> None:
    said = text.replace(str(folder), "").lower()
    assert said
    assert not [secret for secret in SECRETS if secret in said], said


def commands(file: Path, folder: Path) -> dict[str, list[str]]:
    good = write(folder, "good.csv", VALID.splitlines())
    kcl = '{name = "kcl", k = 2, c = 1, l = 1}'
    run = write(folder, "r.toml", [f'input = {{path = "{file}"}}', f"method = {kcl}", 'output = {path = "o"}'])
    both = [f'input = {{path = "{file}"}}', 'setting = [{method = "kcl", k = [2, 3], c = 1, l = 1}]',
            'compare = {risk = "known_visits.identity_mean", loss = "instance_loss"}',
            'output = {path = "both"}']  # fmt: skip
    out = ["--out", str(folder / "o")]
    publish = ["publish", "kcl", str(file), "--k", "2", "--c", "1", "--l", "1", *out]
    return {
        "publish": publish,
        "publish mapped": [*publish, "--columns", "traj_id=card,t=time,location=stop"],
        "publish kept": [*publish, "--keep", "fare"],
        "publish visits": [*publish, "--kind", "visits"],
        "publish with owners": [*publish[:2], str(good), *publish[3:], "--owners", str(file)],
        "run": ["run", str(run)],
        "compare": ["compare", str(write(folder, "c.toml", both))],
        "risk": ["risk", str(file)],
        "risk points": ["risk", str(file), "--kind", "points"],
        "prepare": ["prepare", "bucket", str(file), "--width", "1h", "--out", str(folder / "o.csv")],
        "utility": ["utility", str(file), str(good)],
        "utility of it": ["utility", str(good), str(file)],
    }  # fmt: skip


@pytest.mark.parametrize("what", HEADLESS)
def test_no_command_repeats_the_first_row_of_a_file_without_a_header(tmp_path, capsys, what):
    file = write(tmp_path, "in.csv", HEADLESS[what])
    for name, words in commands(file, tmp_path).items():
        assert main(words) == 2, name
        out, error = capsys.readouterr()
        silent(out + error, tmp_path)
        assert "Traceback" not in error
        assert not (tmp_path / "o").exists(), name
    if what not in ("other text", "bars", "repeated"):
        main(["risk", str(file)])
        assert "seems to have no header" in capsys.readouterr().err


@pytest.mark.parametrize("what", HEADLESS)
def test_nor_do_tables_beside_the_data_and_the_preview(tmp_path, what):
    file = write(tmp_path, "in.csv", HEADLESS[what])
    for read in (read_groups, read_network, read_places, read_taxonomy):
        with pytest.raises(WayveilError) as refusal:
            read(file)
        silent(str(refusal.value), tmp_path)
    seen = preview(file)
    silent(" ".join(seen["problems"]) or "nothing", tmp_path)
    assert seen["problems"]


def test_names_that_look_like_values_are_counted_in_a_table_that_has_a_header(tmp_path, capsys):
    columns: dict[str, list[Any]] = {"traj_id": ["a"], "time": [1], "quilla@zoobar.org": [1], "card 99120007": [2]}
    file = tmp_path / "in.parquet"
    pl.DataFrame(columns).write_parquet(file)
    for words in (["risk", str(file)], ["risk", str(file), "--columns", "t=time,location=stop"],
                  ["risk", str(file), "--columns", "t=time,location=traj_id"]):  # fmt: skip
        assert main(words) == 2
        silent(capsys.readouterr().err, tmp_path)
    assert main(["risk", str(file)]) == 2
    assert "'traj_id', 'time' and 2 with names that look like values" in capsys.readouterr().err
    with pytest.raises(WayveilError) as refusal:
        from_polars(pl.DataFrame(columns))
    silent(str(refusal.value), tmp_path)


def test_a_header_with_usual_names_is_shown(tmp_path, capsys):
    file = write(tmp_path, "in.csv", ["bike id,starttime,Ort", "1,2,bar", "1,3,Ort"])
    assert main(["risk", str(file)]) == 2
    said = capsys.readouterr().err
    assert "the file has 'bike id', 'starttime' and 1 with a name that looks like a value" in said


@pytest.mark.parametrize("body", [b"Quilla,\xff\xfe,x\n", b'Quilla,"monday,x\n', b"a,b,c,d,e\n", b""])
def test_a_body_that_cannot_be_read_is_no_traceback(tmp_path, capsys, body):
    (tmp_path / "in.csv").write_bytes(b"Ort,Zeit,Wer\n" + body)
    assert main(["risk", str(tmp_path / "in.csv")]) == 2
    error = capsys.readouterr().err
    silent(error, tmp_path)
    assert "bug" not in error


def test_a_repeated_header_is_a_header(tmp_path, capsys):
    file = write(tmp_path, "in.csv", ["card,time,shop", "1,2,bar", "card,time,shop"])
    assert main(["risk", str(file)]) == 2
    assert "no header" not in capsys.readouterr().err
