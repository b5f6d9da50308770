/** A recipe of the command line, repeated here: its files are chosen among uploads, everything else is taken from it. */
import { useId, useState } from "preact/compat";
import { api, type OpenedRecipe, type Recipe } from "../api";
import { changeDraft, draftOfRun, type FileRef } from "../draft";
import { messageOf, useCatalog } from "../hooks";
import { goTo } from "../route";
import { texts } from "../texts";
import { Failure, Notes } from "./Parts";
import { SideFile } from "./Upload";

const keyOf = (i: number, key: string): string => `${i} ${key}`;

export function RecipeOpener() {
  const catalog = useCatalog();
  const [opened, setOpened] = useState<OpenedRecipe | null>(null);
  const [chosen, setChosen] = useState<Record<string, FileRef | undefined>>({});
  const [error, setError] = useState<string | null>(null);
  const [starting, setStarting] = useState(false);
  const id = useId();

  const open = async (file: File) => {
    setError(null);
    setOpened(null);
    try {
      const [found, files] = await Promise.all([api.openRecipe(await file.text()), api.files()]);
      const same = found.files.map((one, i) => [keyOf(i, one.key), files.find((other) => other.role === one.role && other.name === one.name)] as const);
      setChosen(Object.fromEntries(same.map(([key, one]) => [key, one && { id: one.id, name: one.name }])));
      setOpened(found);
    } catch (failed) {
      setError(messageOf(failed));
    }
  };

  /** The recipe with the uploads in place of its files. */
  const filled = (found: OpenedRecipe, recipe: Recipe): Recipe => {
    const input: Record<string, unknown> = { ...recipe.input };
    found.files.forEach(({ key }, i) => {
      const one = chosen[keyOf(i, key)]?.id;
      if (key === "owners") input.owners = [...((input.owners as string[] | undefined) ?? []), one];
      else input[key === "path" ? "file" : key] = one;
    });
    return { ...recipe, input: input as Recipe["input"] };
  };

  const go = async (found: OpenedRecipe) => {
    if (!catalog.value) return;
    setStarting(true);
    setError(null);
    try {
      const recipes = found.runs.map((run) => ({ ...run, recipe: filled(found, run.recipe) }));
      if (recipes.length > 1) {
        const ids: string[] = [];
        for (const { title, recipe } of recipes) ids.push((await api.start("publish", title, recipe)).id);
        return goTo("compare", ...ids);
      }
      const [{ title, recipe }] = recipes;
      const { file } = recipe.input;
      if (!recipe.input.kind) {
        // What a recipe leaves to the names of the columns is said here.
        const seen = await api.preview(file);
        if (seen.kind) recipe.input = { ...recipe.input, kind: seen.kind, columns: { ...(seen.mapping ?? {}), ...(recipe.input.columns ?? {}) } };
      }
      draftOfRun({ recipe }, catalog.value.methods, catalog.value.steps, await api.files());
      changeDraft(file, { title, seed: recipe.seed === null || recipe.seed === undefined ? "" : String(recipe.seed) });
      goTo("parameters", file, recipe.method?.name ?? "");
    } catch (failed) {
      setError(messageOf(failed));
      setStarting(false);
    }
  };

  const ready = opened?.files.every(({ key }, i) => chosen[keyOf(i, key)] !== undefined) ?? false;
  return (
    <details className="fold" data-testid="recipe-fold">
      <summary>{texts.recipe.open}</summary>
      <p className="quiet">{texts.recipe.lead}</p>
      <input
        className="file-input"
        type="file"
        accept=".toml"
        id={id}
        data-testid="recipe-input"
        onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          event.currentTarget.value = "";
          if (file) void open(file);
        }}
      />
      <label className="button" htmlFor={id}>
        {texts.recipe.choose}
      </label>
      {error && <Failure message={error} />}
      {opened && (
        <div data-testid="recipe-opened">
          <h2>{texts.recipe.title(opened.title)}</h2>
          {opened.runs.length > 1 && <p>{texts.recipe.settings(opened.runs.length)}</p>}
          <p>{texts.recipe.reads}</p>
          {opened.files.map(({ key, role, name }, i) => (
            <SideFile key={keyOf(i, key)} role={role} about={texts.recipe.file(name)} chosen={chosen[keyOf(i, key)]} choose={(one) => setChosen((old) => ({ ...old, [keyOf(i, key)]: one }))} />
          ))}
          {opened.notes.length > 0 && <Notes notes={opened.notes} />}
          <button type="button" className="button primary" data-testid="recipe-go" disabled={!ready || starting || !catalog.value} onClick={() => void go(opened)}>
            {opened.runs.length > 1 ? texts.recipe.start(opened.runs.length) : texts.recipe.go}
          </button>
        </div>
      )}
    </details>
  );
}
