/** What a result says, in the order and the words of the HTML report. */
import type { AttackResult, Publication } from "./api";
import { texts } from "./texts";
import { asNumber, boundWords, formatNumber, formatPercent, formatValue, sentence, words } from "./words";

export interface Mark {
  label: string;
  value: string;
  unit: string;
  promised: string;
  meaning: string;
  state: "kept" | "broken" | "plain";
}

// What a measured value is held against: a word of its name, the claim's parameter, and which side is safe.
const PROMISES: [string, string, "atLeast" | "atMost"][] = [
  ["support", "k", "atLeast"],
  ["confidence", "c", "atMost"],
  ["min_candidates", "k", "atLeast"],
  ["max_share", "p", "atMost"],
  ["max_probability", "c", "atMost"],
  ["min_people", "m", "atLeast"],
];
const SHARES = ["confidence", "max_share", "probability"];

/** The headline: each promised value with the measured one, then the first loss. */
export function marksOf(result: Publication): Mark[] {
  const { verdict } = result;
  const people = verdict.counted === "owners" ? texts.result.people : texts.result.trajectories;
  const found: Mark[] = [];
  for (const [word, parameter, side] of PROMISES) {
    const key = Object.keys(verdict.measured).find((name) => name.includes(word));
    const promised = asNumber(verdict.claim[parameter]);
    const sensitive = verdict.claim.sensitive;
    const noValues = word === "confidence" && sensitive !== undefined && Object.keys(sensitive as object).length === 0;
    if (key === undefined || promised === null || noValues) continue;
    const measured = asNumber(verdict.measured[`${key}_exact`]) ?? asNumber(verdict.measured[key]);
    const share = SHARES.some((part) => word.includes(part));
    const broken = !verdict.holds && measured !== null && (side === "atLeast" ? measured < promised : measured > promised);
    found.push({
      label: words(key),
      value: formatValue(measured, share),
      unit: share || measured === null ? "" : people,
      promised: texts.result.promised(texts.result[side], formatValue(promised, share)),
      meaning: measured === null ? texts.result.nothingCounted : texts.result.promises[word],
      state: broken ? "broken" : verdict.holds ? "kept" : "plain",
    });
  }
  const strongest = strongestOf(result);
  if (strongest) found.push(strongest);
  const score = result.scores[0];
  if (score) found.push({ label: words(score.name), value: formatValue(score.value, score.percent), unit: "", promised: "", meaning: score.meaning, state: "plain" });
  return found;
}

/** What the attack achieves that is worst after publication, whether the promise speaks of it or not. */
function strongestOf(result: Publication): Mark | null {
  const meanOf = (attack: AttackResult): number => attack.measured.identity_mean ?? attack.measured.attribute_mean ?? -1;
  const worst = result.attacks.reduce<Publication["attacks"][number] | null>(
    (most, one) => (meanOf(one.published) > (most ? meanOf(most.published) : -1) ? one : most),
    null,
  );
  if (!worst) return null;
  return {
    label: texts.result.strongest,
    value: formatPercent(meanOf(worst.published)),
    unit: texts.risk.mean,
    promised: texts.result.strongestRaw(formatPercent(meanOf(worst.raw))),
    meaning: sentence(worst.published.adversary),
    state: "plain",
  };
}

export interface RiskRow {
  what: string;
  raw: string;
  published: string;
  worst: [string, string] | null;
  above: { bound: string; raw: string; published: string } | null;
  shares: [number | null, number | null];
}

/** An attack in one or a few lines: the mean, the worst, and how many people are above the threshold. */
export function riskRows(raw: AttackResult, published: AttackResult | null): RiskRow[] {
  const [before, after] = [raw.measured, published?.measured ?? {}];
  const rows: RiskRow[] = [];
  for (const group of ["identity", "attribute", "inference"]) {
    const mean = `${group}_mean`;
    if ((before[mean] ?? null) === null && (after[mean] ?? null) === null) continue;
    const bound = before[`${group}_threshold`] ?? null;
    const above = `${group}_share_above`;
    rows.push({
      what: texts.result.what2[group],
      raw: formatPercent(before[mean]),
      published: formatPercent(after[mean]),
      worst: [formatPercent(before[`${group}_max`]), formatPercent(after[`${group}_max`])],
      above:
        above in before
          ? { bound: bound === null ? "" : boundWords(bound, group === "identity"), raw: formatPercent(before[above]), published: formatPercent(after[above]) }
          : null,
      shares: [before[mean] ?? null, after[mean] ?? null],
    });
  }
  if (!rows.length) {
    const first = "exposed_people_share" in before ? "exposed_people_share" : Object.keys(before).find((name) => name.includes("share"));
    if (first) {
      rows.push({
        what: words(first).toLowerCase(),
        raw: formatPercent(before[first]),
        published: formatPercent(after[first]),
        worst: null,
        above: null,
        shares: [before[first] ?? null, after[first] ?? null],
      });
    }
  }
  return rows;
}

/** A part of a counter-example as lines of text. */
export function linesOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.map((part) => linesOf(part).join(", "));
  if (value !== null && typeof value === "object") return Object.entries(value).map(([key, part]) => `${key}: ${linesOf(part).join(", ")}`);
  return [typeof value === "number" ? formatNumber(value) : String(value)];
}
