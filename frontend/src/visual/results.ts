/** What results.json holds. Written by scripts/results-types from report/results_schema.py: do not edit. */
export const VERSION = 1;

/** A measured number with its unit, its label and its text. */
export interface NumberData {
  value: number | null;
  unit: "share" | "probability" | "relative" | "count" | "amount" | "m" | "m²" | "s" | "m/s" | "bits";
  label: string;
  text: string;
  interval?: [number, number] | null;
  interval_text?: string;
  of?: string;
  better?: string;
  about?: string;
  statistic?: string;
  threshold?: number | null;
  keeps?: string;
  exact?: string;
  note?: string;
}

/** One named line or set of bars; null where there is nothing to show, or too few people. */
export interface SeriesData {
  name: string;
  values: (number | null)[];
  people?: (number | null)[];
}

/** A chart as data; `at` places the labels on a real scale, where they are numbers or times of the day in hours. */
export interface ChartData {
  title: string;
  finding: string;
  kind: "bars" | "line" | "map";
  labels: string[];
  series: SeriesData[];
  x_label: string;
  y_label: string;
  percent: boolean;
  scale: "names" | "numbers" | "clock";
  at: number[];
  lines: ([number, number, number, number])[];
}

/** Lines through the plane: `x` and `y` are whole steps from the origin, each told as the change to the one before. */
export interface MapLines {
  offsets: number[];
  x: number[];
  y: number[];
}

/** Trajectories of one data set: lines, or boxes that lie between two corners each; `shown` of `total`. */
export interface MapLayer extends MapLines {
  name: string;
  raw: boolean;
  kind: "lines" | "boxes";
  total: number;
  shown: number;
  slices?: number[];
}

/** What is counted on a map: cells, roads, places, zones or flows, with values and people before and after. */
export interface MapMarks {
  kind: "cells" | "roads" | "places" | "zones" | "flows";
  labels: string[];
  x: number[];
  y: number[];
  x2: number[];
  y2: number[];
  raw: (number | null)[];
  published: (number | null)[];
  raw_people: (number | null)[];
  published_people: (number | null)[];
  outlines?: MapLines | null;
  withheld?: [boolean, boolean];
  missing?: string;
}

/** The same marks in one part of the time; only those with a value, by their positions in `marks`. */
export interface MapSlice {
  label: string;
  marks: number[];
  raw: (number | null)[];
  published: (number | null)[];
}

/** One map before and after, in metres of a plane: ``origin + step * whole number``. */
export interface MapData {
  title: string;
  finding: string;
  below: string;
  names: [string, string];
  what: string;
  percent: boolean;
  origin: [number, number];
  step: number;
  extent: [number, number, number, number];
  marks: MapMarks | null;
  slices: MapSlice[];
  background: MapLines | null;
  layers: MapLayer[];
}

/** An attack above the limit. */
export interface ExposureData {
  attack: string;
  about: string;
  limit: number;
  share_above: number | null;
  mean: number | null;
  largest: number | null;
  sentence: string;
}

/** The attack that says most. */
export interface StrongestData {
  attack: string;
  raw: NumberData | null;
  mean: NumberData;
  largest: NumberData | null;
  above: NumberData | null;
  sentence: string;
}

/** The loss that tells most for what the data are for. */
export interface LossData {
  name: string;
  meaning: string;
  number: NumberData;
  sentence: string;
}

/** What it came to: the same everywhere. */
export interface HeadData {
  state: "kept" | "but" | "refused";
  label: string;
  title: string;
  sentence: string;
  reasons: string[];
  exposed: ExposureData[];
  remedies: string[];
  risk: StrongestData | null;
  loss: LossData | null;
  left: Record<string, number>;
  limit: number | null;
  use: string | null;
  missing?: string[];
  drawn?: number;
  next?: string;
  not_stopped?: string[];
  sizes?: string;
}

/** Whether the promise holds, with the evidence. */
export interface VerdictData {
  holds: boolean;
  claim: Record<string, unknown>;
  counted: "owners" | "trajectories";
  numbers: Record<string, NumberData>;
  measured: Record<string, number | string | null>;
  reason: string;
  not_judged: string[];
  witness?: Record<string, unknown> | null;
}

/** What an attacker learns from one data set. */
export interface AttackData {
  name: string;
  adversary: string;
  victims: number;
  sampled: boolean;
  numbers: Record<string, NumberData>;
  measured: Record<string, number | null>;
  charts: ChartData[];
}

/** The same attack on the raw and on the published data. */
export interface AttackPair {
  raw: AttackData;
  published: AttackData;
}

/** What one attack does, before and after: the mean over people, the person most at risk, who is above the limit. */
export interface RiskRow {
  attack: string;
  name: string;
  adversary: string;
  what: string;
  raw: NumberData | null;
  published: NumberData | null;
  raw_worst: NumberData | null;
  published_worst: NumberData | null;
  raw_above: NumberData | null;
  published_above: NumberData | null;
  limit: number | null;
  limit_text: string;
}

/** What was lost, by one metric. */
export interface ScoreData {
  name: string;
  meaning: string;
  value: number | null;
  better: "lower" | "higher";
  unit: "share" | "probability" | "relative" | "count" | "amount" | "m" | "m²" | "s" | "m/s" | "bits";
  percent: boolean;
  text: string;
  numbers: Record<string, NumberData>;
  measured: Record<string, number | null>;
  charts: ChartData[];
}

/** What runs of one kind are compared by, whatever each promises; the head does not speak of it. */
export interface ComparedData {
  attack: AttackPair;
  score: ScoreData;
}

/** A key number beside what was promised. */
export interface MarkData {
  label: string;
  value: string;
  unit: string;
  promised: string;
  meaning: string;
  state: "kept" | "broken" | "plain";
}

/** An everyday question of use, and what was measured about it. */
export interface QuestionData {
  question: string;
  answer: string;
  value: string;
  kept: string;
  meaning: string;
}

/** What there is after one step: the flow of losses from the file to the publication. */
export interface StageData {
  name: string;
  rows: number;
  row_word: string;
  trips: number | null;
  people: number | null;
  note?: string;
}

/** Everything that was measured of one run. */
export interface Results {
  version: 1;
  created: string;
  title: string;
  method: string;
  parameters: Record<string, unknown>;
  promise: string;
  counted: string;
  manifest_sha256: string | null;
  head: HeadData;
  marks: MarkData[];
  questions: QuestionData[];
  verdict: VerdictData;
  risks: RiskRow[];
  attacks: AttackPair[];
  scores: ScoreData[];
  views: ChartData[];
  maps: MapData[];
  flow: StageData[];
  balance: Record<string, Record<string, number | null>>;
  input_facts: Record<string, string>;
  output_facts: Record<string, string>;
  notes: string[];
  timings_s: Record<string, number>;
  usage?: Record<string, Record<string, number>>;
  total_s: number;
  versions: Record<string, string>;
  compared_by?: ComparedData | null;
}
