"""Judge a published folder again: from its files alone, or with the original by whoever has it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf, isclose
from pathlib import Path
from typing import Any, Literal

import numpy as np

from wayveil.engines import LocalEngine, scratch_folder
from wayveil.errors import InputError, UsageError, WorkLimitReached, check_int
from wayveil.io.tabular.crs import crs_name
from wayveil.model import Engine, Stops, Verdict, concat, kinds
from wayveil.model.budget import limit_work, spend
from wayveil.model.data.ragged import IntArray
from wayveil.model.normal import similar_key
from wayveil.model.numbers import Number
from wayveil.pipeline.blocks.store import Disk, Memory
from wayveil.pipeline.folder.definition_check import (
    Answer,
    SecondOpinion,
    judge_files_by_definition,
    judge_truth_by_definition,
)
from wayveil.pipeline.folder.manifest import (
    Manifest,
    expected_columns,
    file_facts,
    form_of_files,
    frame_of_files,
    is_published_name,
    open_plain,
    read_manifest,
    readme_of,
    sentences,
    unprotected,
    versions,
)
from wayveil.pipeline.folder.outlines import outline_failures
from wayveil.pipeline.folder.secret import SECRET_FILE, Secret
from wayveil.pipeline.folder.signing import SIGNATURE, check_signature
from wayveil.pipeline.folder.staging import MANIFEST, RECIPE_FILE, check_private
from wayveil.pipeline.input import find_public, load_boxes, load_parts
from wayveil.pipeline.judge import judge_together
from wayveil.pipeline.outcome import NotPublished
from wayveil.pipeline.publish import publish
from wayveil.recipe import catalog
from wayveil.recipe.recipe import Recipe, load_recipe
from wayveil.recipe.verdict_record import record_verdicts
from wayveil.report.readme_page import README
from wayveil.report.results_json import verdict_json
from wayveil.verifiers import (
    NOISE_BY_CONSTRUCTION,
    SHOWN_BY_REPETITION,
    Need,
    apart,
    class_keys,
    find_other_mechanism,
    join_verdicts,
)

__all__ = ["SHARE_ROWS", "WORK_BASE", "WORK_PER_BYTE", "FolderVerdict", "differing_files", "verify_folder"]

SHARE_ROWS = 2_000_000
"""About so many rows are held at a time where parts keep a claim only together."""

WORK_BASE = 4_000_000_000
WORK_PER_BYTE = 2_000
"""How many steps, of about a nanosecond each, a folder may take to be judged, and how many more for each byte of it."""

_STEPS_PER_PAIR_OF_FILES = 2_000
_RATIO = re.compile("[0-9]{1,40}(/[0-9]{1,40})?")
_LAST_DIGITS = Fraction(1, 10**9)
_LONGEST_README = 1  # a byte more than it may have is enough to see that it is another
_SIGNED_UNCHECKED = "The manifest is signed; the signature was not checked. Give the publisher's key with --public-key."

_NOT_ALONE = (
    "the claim itself: it speaks of true positions, which published files do not show; whoever has the original can "
    "judge it with --original"
)
_NOT_BY_DEFINITION = (
    "the claim by its definition, with owners and true positions: no step of publishing the original again held what "
    "was published together with them"
)

_OWN_SECRET = (
    "the secret of the run was drawn at random and is known to nobody else; all that chance decided follows from it"
)

_OWN_NOISE = (
    "the first run drew its noise as the second one did, by OpenDP from the secure source of the operating system, and "
    "was the only one of which numbers were looked at before they were published"
)


Signature = Literal["none", "not checked", "right", "wrong"]
"""Whether there is a signature of the manifest, and what is known of it."""


@dataclass(frozen=True, kw_only=True)
class FolderVerdict:
    """What was found wrong with a folder, what could not be judged from what was given, and the verdict on its data.

    `notes` are told every time: what is published beside what the promise speaks of, and what was not compared.
    `by_definition` is what the definition of the claim says, where it was consulted.
    """

    folder: Path
    manifest: Manifest
    manifest_sha256: str
    failures: tuple[str, ...]
    not_judged: tuple[str, ...]
    verdict: Verdict | None
    repeated: bool = False
    signature: Signature = "none"
    notes: tuple[str, ...] = ()
    by_definition: Answer | None = None

    @property
    def holds(self) -> bool | None:
        """True: everything was judged and is right; False: something is wrong; None: a part cannot be judged."""
        if self.failures:
            return False
        return None if self.not_judged else True

    @property
    def promise(self) -> str:
        """What the claim of the manifest promises: from the claim, never from the manifest's own words."""
        # The manifest's own sentence may be forged; the claim is what is judged, so the claim speaks.
        return self.manifest.guarantee.statement("declared" if self.manifest.people_declared else "given")

    @property
    def assumed(self) -> tuple[str, ...]:
        """What is taken for granted because only the owner of the data can know it."""
        parts = () if self.verdict is None or not self.holds else self.verdict.not_judged
        drawn = any(part in SHOWN_BY_REPETITION for part in parts if part != NOISE_BY_CONSTRUCTION)
        noisy = NOISE_BY_CONSTRUCTION in parts
        return (*((_OWN_SECRET,) if drawn else ()), *((_OWN_NOISE,) if noisy else ()))

    @property
    def exit_code(self) -> int:
        """0 holds, 1 fails, 3 cannot be judged from what was given."""
        return {True: 0, False: 1, None: 3}[self.holds]

    def to_json(self) -> dict[str, Any]:
        """The judgement as JSON can hold it."""
        return {
            "holds": self.holds,
            "failures": list(self.failures),
            "not_judged": list(self.not_judged),
            "notes": list(self.notes),
            "signature": self.signature,
            "assumed": list(self.assumed),
            "with_original": self.repeated,
            "manifest_sha256": self.manifest_sha256,
            "method": self.manifest.method,
            "promise": self.promise,
            "each_trajectory_is_a_person": self.manifest.people_declared,
            "verdict": None if self.verdict is None else verdict_json(self.verdict, witness=True),
            "by_definition": self.by_definition,
            "verdict_at_publication": self.manifest.verdict.model_dump(mode="json"),
        }


def verify_folder(
    folder: str | Path,
    *,
    original: str | Path | None = None,
    recipe: str | Path | None = None,
    secret: str | Path | None = None,
    engine: Engine | None = None,
    public_key: str | Path | None = None,
    work_limit: int | None = None,
    by_definition: bool = False,
) -> FolderVerdict:
    """Check every file against the manifest and judge the claim; every failure is reported, not just the first.

    The claim is judged from the data even when a hash differs, and a correct hash does not excuse data that violate
    the claim.  Whoever can change the folder can also change the manifest: its own sha256 should travel separately.

    Parameters
    ----------
    folder : str or Path
        A published folder, or the folder above it.
    original : str or Path, optional
        The original table, of which only its owner disposes.  It is published again with the recipe, the seed and the
        secret of the run; the very same files must come out, and they are judged with owners and true positions.
    recipe, secret : str or Path, optional
        Those of the run; by default what it left in its private folder.
    engine : Engine, optional
        Where the work runs.
    public_key : str or Path, optional
        The publisher's key, as `wayveil keygen` writes it (extra `sign`): a manifest without a signature of this key
        fails.
    work_limit : int, optional
        After so many steps, of about a nanosecond each, judging the files ends, and what is left is not judged; by
        default four billion, and two thousand for each byte of the folder.  What is done with the original is not
        counted.
    by_definition : bool
        Judge the claim a second time, by a short program that restates its definition and tries everything: all parts
        together, and with the original against the truth.  It is for small data, others are refused (UsageError), and
        its steps are not counted.  Where it and the verifier disagree, the folder fails.

    Returns
    -------
    FolderVerdict
        Its `holds` is None where a part of the claim cannot be judged from what was given.
    """
    # Everything in the folder is taken to be forged: the manifest is one witness, the files another, and what follows
    # from the claim a third. Each check compares two of them, and none is skipped because another one failed.
    public = find_public(Path(folder))
    manifest, sha256 = read_manifest(public)
    signature, failures = _signature_failures(public, public_key)
    failures += [*_form_failures(public, manifest), *_method_failures(manifest), *_text_failures(manifest)]
    failures += _file_failures(public, manifest)
    # A small folder can be made so that judging it takes years. Steps are counted, in proportion to the bytes that
    # somebody had to send.
    limit = _limit(public, manifest) if work_limit is None else check_int("verify", "work_limit", work_limit, low=1)
    findings = _Findings(by_definition=by_definition)
    try:
        with limit_work(limit):
            findings.judge(public, manifest)
    except WorkLimitReached:
        findings.not_judged.append(
            f"the data: this takes more than {limit:,} steps; if you trust who made the folder, allow more with "
            "--work-limit"
        )
    failures += findings.failures
    verdict = findings.verdict
    not_judged = findings.not_judged
    opinion = findings.opinion
    if not manifest.verdict.holds:
        failures.append("the manifest itself says that the claim did not hold")
    if original is not None:
        # Recipe and secret of another run would publish other bytes and prove nothing; so the private files must name
        # this manifest.
        if not failures and (recipe is None or secret is None):
            check_private(public)
        repetition = _Repetition(public=public, original=Path(original), recipe=recipe, secret=secret)
        with record_verdicts(by_definition) as judged:
            # The record is one of this thread, so nothing may be judged in another one.
            again, wrong, unknown = repetition.run(manifest, LocalEngine(workers=1) if by_definition else engine)
        verdict = again or verdict
        failures += wrong
        not_judged = [*unknown, *(not_judged if again is None and unknown else ())]
        if by_definition and again is not None:
            opinion = opinion.join(judge_truth_by_definition(judged))
            not_judged += [_NOT_BY_DEFINITION] if opinion.answer == "not judged" else []
    elif recipe is not None or secret is not None:
        raise UsageError("A recipe or a secret is of use together with the original; give it with --original.")
    failures += opinion.failures
    if not failures:  # a page beside a manifest that is wrong itself says nothing more
        failures += _readme_failures(public, manifest)
    return FolderVerdict(
        folder=public,
        manifest=manifest,
        manifest_sha256=sha256,
        failures=tuple(failures),
        not_judged=tuple(not_judged),
        verdict=verdict,
        repeated=original is not None,
        signature=signature,
        notes=(
            *([_SIGNED_UNCHECKED] if signature == "not checked" else []),
            *(
                f"The attribute {name!r} is published as it is; the promise does not cover it."
                for name in unprotected(manifest.guarantee, manifest.attributes)
            ),
            *findings.notes,
        ),
        by_definition=opinion.answer if by_definition else None,
    )


@dataclass(kw_only=True)
class _Findings:
    """What the files themselves show, as far as they were looked at."""

    failures: list[str] = field(default_factory=list)
    not_judged: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    verdict: Verdict | None = None
    by_definition: bool = False
    opinion: SecondOpinion = SecondOpinion(answer="not judged")

    def judge(self, public: Path, manifest: Manifest) -> None:
        """Read and judge the files; whatever was found stays where there is too much work."""
        try:
            self.verdict, rows, trajectories, notes = _judged(public, manifest)
        except InputError as error:
            self.failures.append(f"the table cannot be read: {error}")
            return
        self.notes += notes
        self.failures += _count_failures(rows, trajectories, manifest)
        if self.verdict is None:
            self.not_judged.append(_NOT_ALONE)
        elif not self.verdict.holds:
            self.failures.append(f"the data do not keep the claim: {self.verdict.reason}")
        else:
            self.not_judged += self.verdict.not_judged
        if self.verdict is not None and self.verdict.holds:
            self.failures += _number_failures(manifest, self.verdict)
        if self.by_definition and self.verdict is not None:
            self.opinion = judge_files_by_definition(public, manifest, self.verdict)
        self.failures += _frame_failures(public, manifest)
        self.failures += outline_failures(public, manifest)


def _limit(folder: Path, manifest: Manifest) -> int:
    """Return how much work a folder of this size may take."""
    size = 0
    # Links are not followed: their targets are no part of the folder, and refused anyway.
    for name in (MANIFEST, *manifest.files):
        try:
            size += (folder / name).stat(follow_symlinks=False).st_size
        except OSError:
            continue  # told elsewhere
    return WORK_BASE + WORK_PER_BYTE * size


def _signature_failures(folder: Path, public_key: str | Path | None) -> tuple[Signature, list[str]]:
    """Return what is known of the signature, and what is wrong with it; without a key nothing is."""
    is_signed = os.path.lexists(folder / SIGNATURE)
    if public_key is None:
        return ("not checked" if is_signed else "none"), []
    if not is_signed:
        return "none", ["the manifest is not signed"]
    try:
        with open_plain(folder / MANIFEST) as file:
            content = file.read()
        with open_plain(folder / SIGNATURE) as file:
            signed = check_signature(content, file.read(1 << 10), Path(public_key))
    except OSError:
        signed = False
    return ("right", []) if signed else ("wrong", ["the signature is not that of this key on this manifest"])


@dataclass(frozen=True, kw_only=True)
class _Repetition:
    """A publication of the original once more, to be compared with a public folder."""

    public: Path
    original: Path
    recipe: str | Path | None
    secret: str | Path | None

    def run(self, manifest: Manifest, engine: Engine | None) -> tuple[Verdict | None, list[str], list[str]]:
        """Return the verdict with the original, what is wrong, and what cannot be said."""
        private = self.public.parent / "private"
        recipe = load_recipe(_given(self.recipe, private / RECIPE_FILE, "--recipe"))
        secret = Secret.read(_given(self.secret, private / SECRET_FILE, "--secret"))
        # The same input and secret give the same bytes with the same versions only. With others, differing bytes are no
        # evidence, and the answer is "cannot be judged".
        # What decides the bytes: Python, Wayveil and three libraries.
        if manifest.versions != versions():
            return None, [], [f"the repetition: {_other_versions(manifest)}, so other bytes would prove nothing"]
        with scratch_folder() as scratch:
            try:
                outcome = publish(self._repeating(recipe, scratch / "out"), engine=engine, secret=secret)
            except NotPublished as refusal:
                return None, [f"the original, published again with this recipe, keeps no promise: {refusal}"], []
            if recipe.method.random_noise:
                return self._compare_mechanism(manifest, scratch / "out" / "public", outcome.verdict)
            differing = differing_files(self.public, scratch / "out" / "public")
        if differing:
            return None, [f"published again from the original, other files come out: {', '.join(differing)}"], []
        # Every byte is the one that follows from the secret, so it is known how they came about.
        return outcome.verdict, [], [part for part in outcome.verdict.not_judged if part not in SHOWN_BY_REPETITION]

    def _compare_mechanism(
        self, manifest: Manifest, public: Path, verdict: Verdict
    ) -> tuple[Verdict | None, list[str], list[str]]:
        """Compare with a run of other noise: the mechanism must be the same one, and numbers as near as noise is."""
        again, _ = read_manifest(public)
        # What follows from the recipe alone, and not from what noise left.
        wrong = [
            f"published again from the original, the manifest has another {name}"
            for name, one, other in (
                ("method", manifest.method, again.method),
                ("set of parameters", manifest.parameters, again.parameters),
                ("declaration of people", manifest.people_declared, again.people_declared),
                ("set of columns", manifest.table.columns, again.table.columns),
            )
            if one != other
        ]
        one = concat([part.data for part in load_parts(self.public, manifest)])
        other = concat([part.data for part in load_parts(public, again)])
        claim: Any = manifest.guarantee
        claim_again: Any = again.guarantee
        difference = "" if wrong else find_other_mechanism(one, claim, other, claim_again)
        wrong += [f"published again from the original, {difference}"] if difference else []
        if wrong:
            return None, wrong, []
        return verdict, [], [part for part in verdict.not_judged if part not in SHOWN_BY_REPETITION]

    def _repeating(self, recipe: Recipe, out: Path) -> Recipe:
        output = recipe.output.model_copy(
            update={"path": out, "overwrite": False, "keep_mapping": False, "sign_key": None}
        )
        source = recipe.input.model_copy(update={"path": self.original})
        # Attacks and metrics are left out: they decide nothing about the bytes.
        return recipe.model_copy(update={"input": source, "output": output, "attacks": (), "metrics": ()})


def _given(path: str | Path | None, usual: Path, option: str) -> Path:
    """Return what was given, or what the run left in its private folder."""
    if path is not None:
        return Path(path)
    if not usual.is_file():
        raise UsageError(f"There is no {usual.name} in a private folder beside the publication; give it with {option}.")
    return usual


def _other_versions(manifest: Manifest) -> str:
    here = versions()
    differing = sorted(name for name in {*here, *manifest.versions} if here.get(name) != manifest.versions.get(name))
    return f"the folder was made with another version of {', '.join(differing)} than is installed here"


def differing_files(one: Path, other: Path) -> list[str]:
    """Return the names of files that the two folders do not have alike; who repeats it does not sign it."""
    names = sorted({path.name for folder in (one, other) for path in folder.iterdir()} - {SIGNATURE})
    return [
        name
        for name in names
        if not (one / name).is_file()
        or not (other / name).is_file()
        or file_facts(one / name) != file_facts(other / name)
    ]


def _text_failures(manifest: Manifest) -> list[str]:
    """Compare what the manifest says in words with what its claim says: whoever forged one did not forge the other."""
    # Readers believe sentences. They are derived from the claim again, and must be the same letter by letter.
    expected = sentences(manifest.guarantee, manifest.people_declared, manifest.attributes)
    return [
        f"the manifest's own words under {name!r} are not those of its claim"
        for name, words in expected.items()
        if getattr(manifest, name) != words
    ]


def _method_failures(manifest: Manifest) -> list[str]:
    """Compare what the manifest says of the method with its claim: another k there would be believed, too."""
    # "auto" was resolved from the data; the claim has what came of it.
    parameters = {
        name: value for name, value in manifest.parameters.items() if name in manifest.claim and value != "auto"
    }
    if any(manifest.claim[name] != value for name, value in parameters.items()):
        return ["the parameters of the method are not those of the claim"]
    # A method of another version may have other parameters; what its claim says is judged all the same.
    if manifest.versions.get("wayveil") != versions()["wayveil"]:
        return []  # methods of other versions have other parameters
    try:
        method = catalog.build("method", manifest.method, manifest.parameters)
    except UsageError:
        return ["the manifest tells of a method or parameters that there are not"]
    same = catalog.plain_parameters(method) == manifest.parameters and method.claim.name == manifest.guarantee.name
    return [] if same else ["the manifest tells of another method or other parameters than those of its claim"]


def _shown(name: str) -> str:
    """Return the name of a file as it can be shown: nothing in it steers a terminal."""
    return name if name.isprintable() else ascii(name)


def _form_failures(folder: Path, manifest: Manifest) -> list[str]:
    """Compare the manifest with the one form in which it is written: nothing can hide in another."""
    with open_plain(folder / MANIFEST) as file:
        same = file.read() == manifest.to_bytes()
    failures = [] if same else [f"{MANIFEST} is not in the form in which it is written"]
    if manifest.table.owners == "declared" and not manifest.each_trajectory_is_a_person:
        failures.append("the manifest says that people are those of the input, and that they were declared")
    if json.dumps(manifest.guarantee.to_json(), sort_keys=True) != json.dumps(manifest.claim, sort_keys=True):
        failures.append("the claim is not in the form in which it is written")
    columns = expected_columns(manifest)
    if [(column.name, column.type) for column in manifest.table.columns] != columns:
        failures.append("the manifest lists other columns than data of this kind have")
    return failures


def _file_failures(folder: Path, manifest: Manifest) -> list[str]:
    failures = []
    # Every file that is listed is there with its size and hash; every file that is there is listed.
    for name, expected in sorted(manifest.files.items()):
        try:
            facts = file_facts(folder / name)
        except OSError:
            failures.append(f"{_shown(name)} is missing or cannot be read")
            continue
        if facts.bytes != expected.bytes:
            failures.append(f"the size of {_shown(name)} differs: {facts.bytes:,} bytes instead of {expected.bytes:,}")
        if facts.sha256 != expected.sha256:
            failures.append(f"the hash of {_shown(name)} differs: the file was changed after publication")
    unknown = sorted(name for name in manifest.files if not is_published_name(name))
    if unknown:
        failures.append(f"{len(unknown)} in the manifest that no publication has: {', '.join(map(_shown, unknown))}")
    else:
        failures += form_of_files(manifest)
    known = {MANIFEST, SIGNATURE, README, *manifest.files}
    extra = sorted(_shown(path.name) for path in folder.iterdir() if path.name not in known)
    if extra:
        failures.append(f"{len(extra)} unlisted in the manifest: {', '.join(extra)}")
    return failures


def _readme_failures(folder: Path, manifest: Manifest) -> list[str]:
    """Compare the page beside the manifest with the one that follows from it: nobody may read anything else there.

    A folder of a version that wrote none has none; another version may have said the same in other words.
    """
    expected = readme_of(manifest)
    try:
        with open_plain(folder / README) as file:
            text = file.read(len(expected) + _LONGEST_README)
    except FileNotFoundError:
        return []
    except OSError:
        return [f"{README} is missing or cannot be read"]
    if text == expected:
        return []
    other = manifest.versions.get("wayveil") != versions()["wayveil"]
    return [f"{README} does not say what the manifest says{', in the words of this version' if other else ''}"]


def _frame_failures(folder: Path, manifest: Manifest) -> list[str]:
    """Compare the frame of coordinates with the one that the published numbers have: another makes other metres."""
    placed = kinds()[manifest.table.kind].coordinates
    if (manifest.table.frame is not None) != placed:
        return ["the manifest has a frame of coordinates for data without coordinates, or none for data with them"]
    if not placed:
        return []
    if manifest.frame.to_json() != manifest.table.frame:
        return ["the manifest's frame of coordinates is not in the form in which it is written"]
    named = crs_name(manifest.frame.crs).degrees
    # GeoJSON is always degrees; of other formats the name of the system may say it, and where it does not, both are
    # possible.
    in_degrees = {True} if any(name.endswith(".geojson") for name in manifest.files) else {True, False}
    if manifest.frame.degrees not in (in_degrees if named is None else in_degrees & {named}):
        return ["the manifest says of its coordinates that they are degrees, or that they are metres, and is wrong"]
    right = frame_of_files(folder, manifest.table, manifest.files, manifest.attributes)
    if right != manifest.frame:
        return ["the manifest's frame of coordinates is not that of the published coordinates"]
    return []


def _count_failures(rows: int, trajectories: int, manifest: Manifest) -> list[str]:
    failures = []
    if rows != manifest.rows:
        failures.append(f"the table has {rows:,} rows instead of {manifest.rows:,}")
    if trajectories != manifest.trajectories:
        failures.append(f"the table has {trajectories:,} trajectories instead of {manifest.trajectories:,}")
    return failures


def _number_failures(manifest: Manifest, verdict: Verdict) -> list[str]:
    """Compare the numbers of the verdict at publication with those that are found here.

    Where people were counted then and trajectories now, numbers that depend on the owners may differ, within what they
    can be: see `_can_be`.  So they may where a method cuts trajectories, each of which was declared a person, in parts.
    """
    stated = manifest.verdict.measured
    claim = manifest.guarantee
    if not set(stated) <= set(claim.public_numbers) or not set(manifest.verdict.not_judged) <= set(verdict.not_judged):
        return ["the manifest's verdict tells of something that no verdict on this claim tells of"]
    # A method that cuts trajectories counts parts where the publisher counted people.
    method: Any = catalog.entries("method").get(manifest.method)
    alike = manifest.verdict.counted == verdict.counted and method is not None and not method.splits_trajectories
    wrong = [
        name
        for name, value in stated.items()
        if value is not None
        and value != verdict.measured.get(name)
        and not (
            _is_ratio_right(name, value, stated, verdict, alike)
            or _is_number_right(name, value, stated, verdict, alike)
        )
    ]
    if wrong:
        return [f"the manifest's verdict tells other numbers than the files: {', '.join(sorted(wrong))}"]
    return []


def _is_ratio_right(name: str, text: Any, stated: Mapping[str, Any], verdict: Verdict, alike: bool) -> bool:
    """Return whether a fraction of the manifest, which is another than that of the files, can be one of people."""
    if alike or not isinstance(text, str) or not name.endswith("_exact"):
        return False
    of = name.removesuffix("_exact")
    number = verdict.claim.quantities.get(of)
    return number is not None and number.of_people and _is_value_of(text, stated.get(of))


def _is_value_of(text: str, value: Any) -> bool:
    """Return whether a fraction is the exact form of the number beside it, which is judged by itself."""
    if not _RATIO.fullmatch(text) or not isinstance(value, int | float):
        return False
    above, _, below = text.partition("/")
    return int(below or 1) > 0 and isclose(int(above) / int(below or 1), value, rel_tol=1e-6, abs_tol=1e-6)


def _is_number_right(name: str, value: Any, stated: Mapping[str, Any], verdict: Verdict, alike: bool) -> bool:
    """Return whether a number of the manifest can be that of a verdict; the last digits depend on the machine."""
    here = verdict.measured.get(name)
    number = verdict.claim.quantities.get(name)
    exact = stated.get(f"{name}_exact")
    if isinstance(value, str) or isinstance(here, str) or (isinstance(exact, str) and not _is_value_of(exact, value)):
        return False
    if number is not None and number.of_people and (here is None or not alike):
        return _can_be(number, value, here, verdict)
    # What needs no owners but is not counted without them is what there must be none of.
    return bool(value == 0 if here is None else isclose(value, here, rel_tol=1e-6, abs_tol=1e-6))


def _can_be(number: Number, value: float, here: float | None, verdict: Verdict) -> bool:
    """Return whether a number of people can be `value` where all that is known is what trajectories show.

    A verdict that holds tells numbers that keep their bounds.  People behind what looks alike are never more than its
    trajectories; where these are not counted by themselves, not more than behind the rarest of all.
    """
    if not (replace(number, value=value).in_range and 0 <= value < inf):
        return False
    if number.promised:
        bound = Fraction(getattr(verdict.claim, number.promised))
        # Fractions are compared exactly; digits that a file rounded away are allowed for.
        if value < bound if number.keeps == "at least" else value > bound + _LAST_DIGITS:
            return False
    if number.better != "higher":
        return True
    # People behind a class are at most its trajectories.
    most = verdict.measured.get("min_support") if here is None else here
    return isinstance(most, int) and value <= most


def _other_spellings(data: Any, manifest: Manifest) -> str | None:
    """Return the column with other spellings of what the claim bounds: each would be bounded, not all together."""
    claim = manifest.guarantee
    named = [
        (name, values, data.attributes[name].labels) for name, values in claim.sensitive if name in data.attributes
    ]
    if claim.adversaries:
        places = tuple(place for _, listed in claim.adversaries for place in listed)
        named.append(("location", places, data.locations))
    for name, values, labels in named:
        keys = {similar_key(value) for value in values}
        if any(label not in values and similar_key(label) in keys for label in labels):
            return name
    return None


def _judged(folder: Path, manifest: Manifest) -> tuple[Verdict | None, int, int, list[str]]:
    """Return the verdict, if files alone can give one, the number of rows and trajectories, and what is to be told."""
    # Before anything is read: a file that is a pipe would hang, and one that is missing is told here.
    for name in manifest.files:
        try:
            with open_plain(folder / name):
                pass
        except OSError:
            raise InputError(f"{_shown(name)} is not there, or is no plain file.") from None
    claim = manifest.guarantee
    together = manifest.table.parts == "together"
    verdicts = []
    classes = []
    rows = 0
    trajectories = 0
    ids: list[IntArray] = []  # hashed: of equal ids, two are equal here as well
    notes: dict[str, None] = {}
    spend(_STEPS_PER_PAIR_OF_FILES * len(manifest.files) ** 2)  # of each part, the names of all are looked through
    for number, part in enumerate(load_parts(folder, manifest, exact=True)):
        notes |= dict.fromkeys(part.notes)
        ids.append(part.ids.hash().to_numpy())
        rows = rows + part.data.n_rows
        trajectories = trajectories + len(part.data)
        spelled = _other_spellings(part.data, manifest)
        if spelled is not None:
            raise InputError(f"The column {spelled!r} has other spellings of what the claim speaks of.")
        boxes = load_boxes(folder, manifest, part, number, exact=True)
        # Parts that only hold together are judged below, all at once.
        if claim.judged_alone and not together:
            verdicts.append(catalog.verify(part.data, claim, boxes=boxes))
        if isinstance(part.data, Stops):
            classes.append(np.unique(class_keys(part.data)))
    # Equal ids in two parts could be one trajectory in two halves, each judged alone.
    if len(ids) > 1 and len(np.unique(np.concatenate(ids))) < trajectories:
        raise InputError("A traj_id stands in several parts, so it is not known what belongs together.")
    if not claim.judged_alone:
        return None, rows, trajectories, [*notes]
    if together:
        return _judge_together(folder, manifest), rows, trajectories, [*notes]
    met: list[Need] = ["classes apart"] if classes and apart(classes) else []
    return join_verdicts(verdicts, met=met), rows, trajectories, [*notes]


def _judge_together(folder: Path, manifest: Manifest) -> Verdict:
    """Judge the claim about all parts together; of many rows only a share is in memory at once."""
    with scratch_folder() as scratch:
        store = Memory() if manifest.rows <= SHARE_ROWS else Disk(folder=scratch)
        names: list[str] = []
        begin = 0
        for number, part in enumerate(load_parts(folder, manifest)):
            data: Any = part.data
            names.append(store.save(replace(data, owner=data.owner + begin), f"readback/{number}"))
            begin += len(data)
        return judge_together(
            manifest.guarantee,
            store,
            names,
            rows=SHARE_ROWS,
            owners=manifest.table.owners,
            engine=LocalEngine(workers=1),
        )
