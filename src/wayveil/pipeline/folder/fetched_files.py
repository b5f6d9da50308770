"""Inputs in object storage, as files on this machine for as long as somebody reads them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wayveil.engines import scratch_folder
from wayveil.errors import WayveilError
from wayveil.io.storage.addresses import address_of, local_path
from wayveil.io.storage.objects import fetch_objects
from wayveil.recipe.recipe import InputSpec, Recipe

__all__ = ["fetched_folder", "fetched_input", "fetched_recipe"]


@contextmanager
def fetched_input(spec: InputSpec, near: Path | None = None) -> Iterator[InputSpec]:
    """Give an input whose table, and all files beside it, are on this machine, for the time of a ``with`` statement.

    What is in object storage is copied to a private scratch folder, in the folder `near` or in that for temporary
    files; it is gone at the end.  Errors name the addresses, and so does what is written of the input.
    """
    addresses = {path: address for path in spec.files if (address := address_of(path)) is not None}
    if not addresses:
        yield spec
        return
    with scratch_folder(_existing(near)) as folder, _naming_addresses(folder):
        copies = {path: fetch_objects(address, folder) for path, address in addresses.items()}
        yield spec.with_copies(copies)


@contextmanager
def fetched_recipe(recipe: Recipe) -> Iterator[Recipe]:
    """Give a recipe whose input is on this machine; copies are made where all hosts of a cluster see the output."""
    with fetched_input(recipe.input, recipe.output.folder) as spec:
        yield recipe if spec is recipe.input else recipe.model_copy(update={"input": spec})


@contextmanager
def fetched_folder(path: str | Path) -> Iterator[Path]:
    """Give a published folder, or any other file or folder, on this machine."""
    address = address_of(path)
    if address is None:
        yield local_path(path)
        return
    with scratch_folder() as folder, _naming_addresses(folder):
        yield fetch_objects(address, folder)


@contextmanager
def _naming_addresses(folder: Path) -> Iterator[None]:
    """Have errors name what was given, not the copy in a scratch folder."""
    try:
        yield
    except WayveilError as error:
        error.args = tuple(_with_addresses(part, folder) if isinstance(part, str) else part for part in error.args)
        raise


def _with_addresses(text: str, folder: Path) -> str:
    for scheme in ("s3", "gs", "az"):
        text = text.replace(f"{folder / scheme}/", f"{scheme}://")
    return text


def _existing(folder: Path | None) -> Path | None:
    """Return the nearest folder that exists: an output folder may still have to be made."""
    while folder is not None and not folder.is_dir():
        folder = folder.parent
    return folder
