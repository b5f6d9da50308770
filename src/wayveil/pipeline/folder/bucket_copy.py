"""A publication in object storage: a copy of one that was verified here, whole or without a manifest.

A bucket has no step that changes several objects at once.  The manifest makes the difference: it is removed before
anything is written over, and written last, when every other object was read back and has the hash that the manifest
says.  Whoever reads in between, or after a copy that was killed, finds no manifest, and `verify` says so; never an old
manifest beside new tables.  Private files never go there.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from wayveil.errors import OutputError, UsageError, WayveilError
from wayveil.io.storage.addresses import address_of
from wayveil.io.storage.objects import Bucket
from wayveil.pipeline.folder.manifest import file_facts, is_published_name
from wayveil.pipeline.folder.signing import SIGNATURE
from wayveil.pipeline.folder.staging import MANIFEST
from wayveil.recipe.recipe import OutputSpec
from wayveil.report.readme_page import README

__all__ = ["BucketCopy"]


@dataclass(frozen=True, kw_only=True)
class BucketCopy:
    """Where a publication goes in object storage."""

    bucket: Bucket
    overwrite: bool

    @classmethod
    def of(cls, output: OutputSpec) -> BucketCopy | None:
        """Return the copy that an output asks for; None of one on this machine."""
        address = address_of(output.path)
        return None if address is None else cls(bucket=Bucket(address), overwrite=output.overwrite)

    def check(self) -> None:
        """Refuse, before any work, what cannot be reached or must not be replaced."""
        address = self.bucket.address
        names = self.bucket.names()
        if "" in names:
            raise OutputError(f"{address} is an object, not a folder of objects; choose another --out.")
        if not names:
            self.bucket.check_there()
        foreign = [name for name in names if not _is_ours(name)]
        if foreign:
            raise OutputError(
                f"{address} holds {len(foreign):,} objects that are no part of a publication; choose another --out."
            )
        if names and not self.overwrite:
            what = "already holds a publication" if MANIFEST in names else "holds a publication that is not finished"
            raise UsageError(
                f"{address} {what}. Give --overwrite to replace it after the new one is verified, or choose another "
                "--out."
            )

    def write(self, public: Path) -> str:
        """Copy a public folder that was verified, the manifest last; return the address."""
        bucket = self.bucket
        try:
            self.check()  # again: the run may have taken hours
            before = bucket.names()
            files = sorted(file.name for file in public.iterdir())
            if MANIFEST in before:
                bucket.remove(MANIFEST)
            for name in before:
                if name not in files:
                    bucket.remove(name)
            for name in (*(name for name in files if name != MANIFEST), MANIFEST):
                bucket.write(name, public / name)
                # What counts is what the storage hands out, not what was sent.
                if bucket.sha256(name) != file_facts(public / name).sha256:
                    raise OutputError(f"{bucket.address}: the storage hands out other bytes than were written.")
        except WayveilError as error:
            raise OutputError(
                f"{str(error).removesuffix('.')}. The copy is not finished, and without a {MANIFEST} it is no "
                f"publication. The verified one is in {str(public)!r}: copy its files yourself, {MANIFEST} last, or "
                "run again with --overwrite."
            ) from None
        return bucket.address


def _is_ours(name: str) -> bool:
    return name in (MANIFEST, README, SIGNATURE) or is_published_name(name)
