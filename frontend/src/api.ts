/** The wire: what the server answers, and how it is asked. */
import { texts } from "./texts";
import type { AttackData, HeadData, Results, RiskRow } from "./visual/results";

export type DataKind = "visits" | "points" | "routes" | "stops" | "trips";
export type Kind = DataKind | "regions" | "counts";
export type FileRole = "data" | "network" | "taxonomy" | "places" | "known" | "owners" | "zones";

export interface Info {
  version: string;
  limits: { upload_bytes: number; jobs: number };
  disk: { used_bytes: number; free_bytes: number };
  kinds: DataKind[];
}

export interface Parameter {
  name: string;
  kind: "int" | "number" | "fraction" | "choice" | "duration" | "sensitive" | "groups" | "text";
  required: boolean;
  default: unknown;
  low: number | null;
  high: number | null;
  choices: string[];
  unit?: string | null;
  help: string;
  range: string;
}

export interface Method {
  name: string;
  summary: string;
  accepts: DataKind;
  /** Other kinds that it takes, and publishes as they are. */
  accepts_also: DataKind[];
  publishes: Kind;
  claim: string;
  promise: string;
  covered: string[];
  not_covered: string[];
  parameters: Parameter[];
}

export interface Step {
  name: string;
  summary: string;
  accepts: DataKind;
  /** Other kinds that it takes; of these it gives the same kind. */
  accepts_also: DataKind[];
  gives: DataKind;
  needs?: "network" | "places" | null;
  parameters: Parameter[];
}

export interface StoredFile {
  id: string;
  name: string;
  role: FileRole;
  bytes: number;
  created?: string;
  used_by?: string[];
}

export interface Column {
  name: string;
  role: string;
  type: string;
  examples: string[];
  missing: number;
  distinct: number | null;
  problems: string[];
}

export interface Preview {
  kind: DataKind | null;
  columns: Column[];
  rows: number | null;
  preview: (string | number | null)[][];
  problems: string[];
  attributes: Record<string, string[]>;
  mapping?: Record<string, string>;
  people?: string[];
  at_least?: number | null;
  notes?: string[];
  nodes?: { name: string; parent: string | null; sensitive: boolean }[];
}

export interface InspectedColumn {
  name: string;
  type: string;
  distinct: number;
  missing: number;
  lengths: [number, number] | null;
  role: string;
  why: string;
}

export interface Question {
  question: string;
  answers: { answer: string; option: string; input: Record<string, unknown> }[];
}

/** What `wayveil inspect` says of a file. */
export interface Inspection {
  format: string;
  rows: number;
  layout: string;
  columns: InspectedColumn[];
  facts: Record<string, number | string | null>;
  problems: string[];
  guesses: string[];
  questions: Question[];
  cannot_be_published: string | null;
  /** What starts a run with these settings; null while a question is left. */
  run: { what: "publish"; title: string; recipe: Recipe } | null;
  settings_tried: boolean;
  tried?: { resolution: string; shares: Record<string, number>; kept: number }[];
}

/** What `publish` found; a run that was refused has the same, of the rejected data. */
export type Publication = Results;

export interface RiskFound {
  facts: string;
  notes: string[];
  attacks: { raw: AttackData; published: null }[];
  risks: RiskRow[];
}

/** What a search for settings came to. */
export interface Advice {
  recommended: number | null;
  reason: string;
  resolution: { metres: number; minutes: number };
  max_risk: number;
  tried: number;
  rows: number;
  whole_file: boolean;
  out_of_time: boolean;
  settings: {
    number: number;
    on_frontier: boolean;
    setting: string;
    prepare: Recipe["prepare"];
    method: NonNullable<Recipe["method"]>;
    weaker: string | null;
    shares: Record<string, number>;
    loss: ({ value: number } & Record<string, number>) | null;
    risk: { attack: string; mean: number; largest: number | null; share_above: number | null; mean_raw: number | null } | null;
    why: string | null;
  }[];
}

export interface Claim {
  promise: string;
  covered: string[];
  not_covered: string[];
}

export type State = "queued" | "running" | "done" | "refused" | "failed" | "cancelled";

/** The keys of a recipe's input that say how a file is written; the page hands them on as `inspect` gave them. */
export const READING = ["dialect", "times", "ends", "line", "positions", "bad_rows", "guesses"] as const;

export interface Recipe {
  input: {
    file: string;
    kind: DataKind;
    columns: Record<string, string>;
    crs: string | null;
    on_duplicate_time: "first" | "last" | null;
    similar_ids: "different" | "same" | null;
    network: string | null;
    taxonomy: string | null;
    places: string | null;
    known: string | null;
    zones: string | null;
    owners: string[] | "each-trajectory";
    sensitive_nodes: string[];
    unknown_places: "refuse" | "drop";
  } & Partial<Record<(typeof READING)[number], unknown>>;
  prepare: ({ step: string } & Record<string, unknown>)[];
  method?: { name: string } & Record<string, unknown>;
  output?: { format: string; keep: string[]; with_raw: boolean };
  sensitive?: Record<string, string[]>;
  seed: number | null;
  /** What is measured of the result, and the risk that is accepted, where a recipe says so. */
  attacks?: ({ name: string } & Record<string, unknown>)[];
  metrics?: ({ name: string } & Record<string, unknown>)[];
  measure?: string;
  /** How to search for settings. */
  use?: string | null;
  max_risk?: number | string;
  budget_minutes?: number;
}

/** A recipe of the command line: what it runs, and which files it reads. */
export interface OpenedRecipe {
  title: string;
  files: { key: string; role: FileRole; name: string }[];
  runs: { title: string; recipe: Recipe }[];
  notes: string[];
}

export interface Run {
  id: string;
  what: "publish" | "risk" | "advise";
  title: string;
  method: string | null;
  file: string;
  file_id: string;
  state: State;
  created: string;
  started: string | null;
  ended: string | null;
  step: string | null;
  done: number | null;
  total: number | null;
  error: string | null;
  headline: {
    risk: { name: string; raw: number | null; published: number | null } | null;
    loss: { name: string; value: number | null; better: string; percent?: boolean } | null;
    head?: { state: HeadData["state"]; label: string; sentence: string; risk: string; loss: string } | null;
  } | null;
  bytes: number;
}

export interface WholeRun extends Run {
  progress: { step: string; seconds: number | null }[];
  /** How long the steps may take, by an earlier run that did the same. */
  expected?: { steps: { step: string; seconds: number }[]; same_file: boolean } | null;
  recipe: Recipe;
  claim?: Claim | null;
  result?: Publication | RiskFound | Advice | null;
}

export interface Comparison {
  risk: { name: string; label: string };
  loss: { name: string; label: string; percent?: boolean };
  points: {
    id: string;
    title: string;
    method: string;
    parameters: Record<string, unknown>;
    risk: number;
    risk_raw: number | null;
    loss: number;
    on_frontier: boolean;
    head: { state: HeadData["state"]; label: string; sentence: string; risk: string; loss: string } | null;
  }[];
  limit: number | null;
  refused: { id: string; why: string }[];
}

export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(`/api${path}`, {
      method,
      headers: body === undefined ? {} : { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new ApiError(texts.errors.gone, 0);
  }
  if (!answer.ok) throw new ApiError(said(answer.status, await answer.text()), answer.status);
  return answer.status === 204 ? (undefined as T) : ((await answer.json()) as T);
}

/** The sentence of an answer that is an error. */
function said(status: number, text: string): string {
  if (status === 401) return texts.errors.locked;
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    if (typeof error === "string" && error) return error;
  } catch {
    // not JSON: nothing of it is shown
  }
  return texts.errors.status(status);
}

const at = encodeURIComponent;

export const api = {
  info: () => call<Info>("GET", "/info"),
  methods: () => call<Method[]>("GET", "/methods"),
  steps: async () => (await call<(Step & { returns: DataKind })[]>("GET", "/steps")).map((step) => ({ ...step, gives: step.returns })),
  files: () => call<StoredFile[]>("GET", "/files"),
  deleteFile: (id: string) => call<void>("DELETE", `/files/${at(id)}`),
  preview: (id: string, asked: { columns?: Record<string, string>; kind?: string | null; crs?: string | null; on_duplicate_time?: string | null } = {}) => {
    const query = new URLSearchParams();
    if (asked.columns && Object.keys(asked.columns).length) query.set("columns", JSON.stringify(asked.columns));
    if (asked.kind) query.set("kind", asked.kind);
    if (asked.crs) query.set("crs", asked.crs);
    if (asked.on_duplicate_time) query.set("on_duplicate_time", asked.on_duplicate_time);
    const text = query.toString();
    return call<Preview>("GET", `/files/${at(id)}/preview${text ? `?${text}` : ""}`);
  },
  /** The preview of a file that is read as an input of a recipe says. */
  read: (id: string, input: Record<string, unknown>) => call<Preview>("POST", `/files/${at(id)}/preview`, { input }),
  inspect: (id: string, input: Record<string, unknown>, settings: boolean) =>
    call<Inspection>("POST", `/files/${at(id)}/inspect`, { input, settings }),
  start: (what: "publish" | "risk" | "advise", title: string, recipe: Recipe) =>
    call<{ id: string }>("POST", "/runs", { what, title, recipe }),
  runs: () => call<Run[]>("GET", "/runs"),
  run: (id: string) => call<WholeRun>("GET", `/runs/${at(id)}`),
  cancel: (id: string) => call<void>("POST", `/runs/${at(id)}/cancel`, {}),
  deleteRun: (id: string) => call<void>("DELETE", `/runs/${at(id)}`),
  openRecipe: (text: string) => call<OpenedRecipe>("POST", "/recipe", { text }),
  compare: (runs: string[]) => call<Comparison>("POST", "/compare", { runs }),
  claim: (method: { name: string } & Record<string, unknown>) => call<Claim>("POST", "/claim", { method }),
};

export const isActive = (state: State): boolean => state === "queued" || state === "running";

/** Sends a file as it is; tells how much of it has gone. */
export function upload(
  file: File,
  role: FileRole,
  told: (share: number) => void,
  stop: AbortSignal,
): Promise<StoredFile> {
  return new Promise((done, fail) => {
    const request = new XMLHttpRequest();
    request.open("POST", `/api/files?name=${at(file.name)}&role=${role}`);
    request.setRequestHeader("content-type", "application/octet-stream");
    request.upload.onprogress = (event) => event.lengthComputable && told(event.loaded / event.total);
    request.onload = () => {
      if (request.status === 201 || request.status === 200) done(JSON.parse(request.responseText) as StoredFile);
      else fail(new ApiError(said(request.status, request.responseText), request.status));
    };
    request.onerror = () => fail(new ApiError(texts.errors.gone, 0));
    request.onabort = () => fail(new ApiError(texts.errors.stopped, 0));
    stop.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}
