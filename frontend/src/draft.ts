/** What was chosen for a file so far: kept in the session of the browser, so that a reload loses nothing. */
import { useCallback, useSyncExternalStore } from "preact/compat";
import { type DataKind, type FileRole, type Method, READING, type Recipe, type Step, type StoredFile } from "./api";
import { type Filled, type FormValues, filledFrom, valuesOf } from "./forms";

export interface FileRef {
  id: string;
  name: string;
}

export interface ChosenStep {
  key: number;
  step: string;
  values: FormValues;
}

export interface Draft {
  kind: DataKind | null;
  columns: Record<string, string>;
  /** How the file is written, where it is no plain table: as `inspect` found it. */
  reading: Record<string, unknown>;
  /** The answers that were given to the questions about the file. */
  answers: Record<string, unknown>;
  /** Who is behind a trajectory where no column says it: another table, or the declaration that each is another person. */
  person: "table" | "each" | null;
  crs: string | null;
  duplicates: "first" | "last" | null;
  /** What ids of people are that differ only by case, white space, leading zeros or letter forms. */
  similarIds: "different" | "same" | null;
  unknownPlaces: "refuse" | "drop";
  side: Partial<Record<FileRole, FileRef>>;
  /** The tables that say who is behind a trajectory. */
  owners: FileRef[];
  sensitive: Record<string, string[]>;
  sensitiveNodes: string[];
  risk: { run: string; of: string } | null;
  values: Record<string, FormValues>;
  steps: ChosenStep[];
  stepsFor: string;
  format: string;
  keep: string[];
  title: string;
  seed: string;
  withRaw: boolean;
  /** What a recipe says of how the result is measured and judged; empty: as usual. */
  measured: Measured;
}

const MEASURED = ["attacks", "metrics", "measure", "max_risk", "use"] as const;
export type Measured = Partial<Pick<Recipe, (typeof MEASURED)[number]>>;

const EMPTY: Draft = {
  kind: null,
  columns: {},
  reading: {},
  answers: {},
  person: null,
  crs: null,
  duplicates: null,
  similarIds: null,
  unknownPlaces: "refuse",
  side: {},
  owners: [],
  sensitive: {},
  sensitiveNodes: [],
  risk: null,
  values: {},
  steps: [],
  stepsFor: "",
  format: "csv",
  keep: [],
  title: "",
  seed: "",
  withRaw: false,
  measured: {},
};

const listeners = new Set<() => void>();
const cache = new Map<string, Draft>();
const keyOf = (file: string): string => `wayveil.draft.${file}`;

export function readDraft(file: string): Draft {
  const known = cache.get(file);
  if (known) return known;
  let draft = EMPTY;
  try {
    const text = window.sessionStorage.getItem(keyOf(file));
    if (text) draft = { ...EMPTY, ...(JSON.parse(text) as Partial<Draft>) };
  } catch {
    // a draft that cannot be read is begun again
  }
  cache.set(file, draft);
  return draft;
}

export function changeDraft(file: string, change: Partial<Draft>): void {
  const draft = { ...readDraft(file), ...change };
  cache.set(file, draft);
  try {
    window.sessionStorage.setItem(keyOf(file), JSON.stringify(draft));
  } catch {
    // without storage the draft lives as long as the page
  }
  for (const told of listeners) told();
}

export function forgetDraft(file: string): void {
  cache.delete(file);
  window.sessionStorage.removeItem(keyOf(file));
}

export function useDraft(file: string): [Draft, (change: Partial<Draft>) => void] {
  const subscribe = useCallback((told: () => void) => {
    listeners.add(told);
    return () => listeners.delete(told);
  }, []);
  const draft = useSyncExternalStore(subscribe, () => readDraft(file));
  const change = useCallback((part: Partial<Draft>) => changeDraft(file, part), [file]);
  return [draft, change];
}

/** The part of a recipe that says what is read. */
export function inputOf(file: string, draft: Draft): Recipe["input"] {
  return {
    ...draft.reading,
    file,
    kind: draft.kind ?? "visits",
    columns: draft.columns,
    crs: draft.crs,
    on_duplicate_time: draft.duplicates,
    similar_ids: draft.similarIds,
    network: draft.side.network?.id ?? null,
    taxonomy: draft.side.taxonomy?.id ?? null,
    places: draft.side.places?.id ?? null,
    known: draft.side.known?.id ?? null,
    zones: draft.side.zones?.id ?? null,
    owners: ownersOf(draft),
    sensitive_nodes: draft.sensitiveNodes,
    unknown_places: draft.unknownPlaces,
  };
}

/** What is said of a file when it is inspected again: as the draft reads it. */
export function saidOf(file: string, draft: Draft): Record<string, unknown> {
  const { file: _, sensitive_nodes: __, unknown_places: ___, ...input } = inputOf(file, draft);
  const filled = Object.entries(input).filter(([, value]) => value !== null && !(Array.isArray(value) && !value.length));
  return Object.fromEntries(filled);
}

function ownersOf(draft: Draft): Recipe["input"]["owners"] {
  if (draft.person === "each") return "each-trajectory";
  return draft.person === "table" ? draft.owners.map((one) => one.id) : [];
}

export function riskRecipe(file: string, draft: Draft): Recipe {
  const sensitive = draft.kind === "visits" || draft.kind === "points" ? draft.sensitive : {};
  return { input: inputOf(file, draft), prepare: [], sensitive, seed: null };
}

/** What a risk was measured of: if it changes, the risk has to be measured again. */
export const riskKey = (file: string, draft: Draft): string => JSON.stringify(riskRecipe(file, draft));

/** The sensitive values stand in the draft, not in the form. */
export function methodValues(draft: Draft, method: Method): FormValues {
  return valuesOf(method.name, method.parameters, {
    ...(draft.values[method.name] ?? {}),
    ...(method.parameters.some((p) => p.kind === "sensitive") ? { sensitive: draft.sensitive } : {}),
  });
}

export function publishRecipe(file: string, draft: Draft, method: Method, filled: Filled, steps: (Filled & { step: string })[]): Recipe {
  return {
    input: inputOf(file, draft),
    prepare: steps.map(({ step, values }) => ({ step, ...values })),
    method: { name: method.name, ...filled.values },
    output: { format: draft.format, keep: draft.keep, with_raw: draft.withRaw },
    seed: draft.seed.trim() === "" ? null : Number(draft.seed),
    ...draft.measured,
  };
}

/** What a recipe says of how its result is measured. */
const measuredOf = (recipe: Recipe): Measured => Object.fromEntries(MEASURED.filter((key) => recipe[key] !== undefined && recipe[key] !== null).map((key) => [key, recipe[key]]));

/** What a recipe says of how its file is written. */
export const readingOf = (input: Recipe["input"]): Record<string, unknown> =>
  Object.fromEntries(READING.filter((key) => input[key] !== undefined && input[key] !== null).map((key) => [key, input[key]]));

/** The part of a draft that an input of a recipe says. */
export function draftOfInput(input: Recipe["input"]): Partial<Draft> {
  const owners = input.owners ?? [];
  return {
    kind: input.kind,
    columns: input.columns ?? {},
    reading: readingOf(input),
    person: owners === "each-trajectory" ? "each" : owners.length ? "table" : null,
    crs: input.crs ?? null,
    duplicates: input.on_duplicate_time ?? null,
    similarIds: input.similar_ids ?? null,
  };
}

/** Brings the choices of an earlier run, or of a recipe that was found for a file, into the draft of its file. */
export function draftOfRun(run: { recipe: Recipe }, methods: Method[], steps: Step[], files: StoredFile[]): void {
  const { input, method, prepare, output } = run.recipe;
  const side: Draft["side"] = {};
  for (const role of ["network", "taxonomy", "places", "known", "zones"] as const) {
    const id = input[role];
    if (id) side[role] = { id, name: files.find((file) => file.id === id)?.name ?? role };
  }
  const owners = input.owners ?? [];
  const tables = owners === "each-trajectory" ? [] : owners.map((id) => ({ id, name: files.find((file) => file.id === id)?.name ?? "owners" }));
  const declared = methods.find((one) => one.name === method?.name);
  const old = readDraft(input.file);
  const given = { ...(method ?? {}) } as Record<string, unknown>;
  const sensitive = (given.sensitive as Record<string, string[]> | undefined) ?? run.recipe.sensitive ?? {};
  changeDraft(input.file, {
    ...draftOfInput(input),
    unknownPlaces: input.unknown_places ?? "refuse",
    side,
    owners: tables,
    sensitive,
    sensitiveNodes: input.sensitive_nodes ?? [],
    ...(declared
      ? {
          values: { ...old.values, [declared.name]: filledFrom(declared.parameters, given) },
          stepsFor: declared.name,
          steps: (prepare ?? []).map((one, key) => ({
            key,
            step: one.step,
            values: filledFrom(steps.find((step) => step.name === one.step)?.parameters ?? [], one),
          })),
          format: output?.format ?? "csv",
          keep: output?.keep ?? [],
          withRaw: output?.with_raw ?? false,
          seed: "",
          measured: measuredOf(run.recipe),
        }
      : {}),
  });
}
