"""A published table as an input: what the manifest beside it says need not be said again."""

from __future__ import annotations

from wayveil.errors import InputError
from wayveil.pipeline.folder.manifest import file_facts, read_manifest, tables, taxonomy_name
from wayveil.pipeline.folder.staging import MANIFEST
from wayveil.recipe.recipe import InputSpec

__all__ = ["with_manifest"]


def with_manifest(spec: InputSpec) -> tuple[InputSpec, tuple[str, ...]]:
    """Return an input with what the manifest beside its table says of it, and notes.

    Taken are the coordinate system of points, and the taxonomy of stops; what the input says itself stays.  A manifest
    counts only if it lists the table with the hash that it has: of a table that was edited it says nothing.  Of a
    published folder, the table in it is the input.

    Raises
    ------
    InputError
        If a published folder holds several tables, so that nobody can say which is meant.
    """
    spec = _table_of_folder(spec)
    folder = spec.path.parent
    if not spec.path.is_file() or not (folder / MANIFEST).is_file():
        return spec, ()
    try:
        manifest = read_manifest(folder)[0]
        # Name and hash must be those of the manifest: of an edited table it says nothing any more.
        if spec.path.name not in tables(manifest) or file_facts(spec.path) != manifest.files[spec.path.name]:
            return spec, ()
    except (InputError, OSError):
        return spec, ()  # no publication: another program may call its files so
    update: dict[str, object] = {}
    notes: list[str] = []
    if spec.crs is None and manifest.table.kind == "points":
        update["crs"] = manifest.frame.crs or "planar"
        notes.append(f"The coordinate system ({update['crs']}) is taken from the {MANIFEST} beside the table.")
    if spec.taxonomy is None and manifest.table.kind == "stops":
        form = spec.path.name.rpartition(".")[2]
        update["taxonomy"] = folder / taxonomy_name(form)
        notes.append(f"The taxonomy is taken from {taxonomy_name(form)} beside the table.")
    return spec.model_copy(update=update), tuple(notes)


def _table_of_folder(spec: InputSpec) -> InputSpec:
    """Return the input of the one table in a published folder, or in the folder around it; any other as it is."""
    public = next((place for place in (spec.path, spec.path / "public") if (place / MANIFEST).is_file()), None)
    if public is None or not spec.path.is_dir():
        return spec
    try:
        names = tables(read_manifest(public)[0])
    except (InputError, OSError):
        return spec
    if len(names) > 1:
        form = names[0].rpartition(".")[2]
        advice = (
            f"give them as '{public / 'published-*.csv'}'"
            if form == "csv"
            else f"copy its .{form} files into a folder of their own, and give that"
        )
        raise InputError(f"{spec.path}: this publication has {len(names):,} tables; {advice}.")
    return spec.model_copy(update={"path": public / names[0]})
