/** From what a person fills in to the values of a recipe, by the declaration of each parameter. */
import type { Parameter } from "./api";
import { suggestions } from "./suggestions";
import { texts } from "./texts";

export type FormValue = string | Record<string, string[]> | Group[];
export type FormValues = Record<string, FormValue>;

/** One group of a parameter such as the adversaries: a name, and values, one per line. */
export interface Group {
  name: string;
  values: string;
}

export interface Filled {
  values: Record<string, unknown>;
  errors: Record<string, string>;
}

export const UNITS = ["s", "min", "h", "d", ""] as const;

/** The values that a form shows: what was filled in, else a suggestion, else the default. */
export function valuesOf(owner: string, parameters: Parameter[], given: FormValues): FormValues {
  return Object.fromEntries(parameters.map((p) => [p.name, given[p.name] ?? startOf(owner, p)]));
}

export function startOf(owner: string, p: Parameter): FormValue {
  const suggested = suggestions[owner]?.[p.name];
  if (suggested !== undefined) return suggested;
  if (p.kind === "sensitive") return {};
  if (p.kind === "groups") return [{ name: "", values: "" }];
  return p.required ? "" : textOf(p.default);
}

/** Checks all parameters; those that are left at their default are not part of the result. */
export function fill(parameters: Parameter[], values: FormValues): Filled {
  const found: Filled = { values: {}, errors: {} };
  for (const p of parameters) {
    const checked = check(p, values[p.name] ?? "");
    if ("error" in checked) found.errors[p.name] = checked.error;
    else if (checked.value !== undefined && !(isSame(checked.value, p.default) && !p.required)) {
      found.values[p.name] = checked.value;
    }
  }
  return found;
}

export function check(p: Parameter, value: FormValue): { value: unknown } | { error: string } {
  if (p.kind === "sensitive") {
    const chosen = Object.entries(value as Record<string, string[]>).filter(([, listed]) => listed.length);
    if (!chosen.length) return p.required ? { error: texts.forms.sensitiveNeeded } : { value: undefined };
    return { value: Object.fromEntries(chosen) };
  }
  if (p.kind === "groups") return checkGroups(p, value as Group[]);
  const text = (value as string).trim();
  if (text === "") return p.required || p.choices.length ? { error: texts.forms.needed } : { value: undefined };
  if (p.choices.includes(text)) return { value: text };
  if (p.kind === "choice") return { error: texts.forms.choice(p.choices) };
  if (p.kind === "text") return { value: text };
  if (p.kind === "duration") {
    const found = /^([0-9]{1,18})\s*(d|h|min|m|s)?$/.exec(text);
    return found && Number(found[1]) > 0 ? { value: text.replace(/\s/g, "") } : { error: texts.forms.duration };
  }
  const low = p.low ?? 0;
  const number = p.kind === "fraction" ? shareOf(text) : Number(text);
  if (number === null || !Number.isFinite(number)) return { error: p.kind === "fraction" ? texts.forms.share : texts.forms.number };
  if (p.kind === "int" && !Number.isInteger(number)) return { error: texts.forms.whole };
  const high = p.kind === "fraction" ? (p.high ?? 1) : p.high;
  if (number < low || (high !== null && number > high)) return { error: texts.forms.between(low, high) };
  if (p.kind === "fraction") return { value: text.endsWith("%") ? percentText(text) : text };
  return { value: number };
}

function checkGroups(p: Parameter, groups: Group[]): { value: unknown } | { error: string } {
  const used = groups.filter((group) => group.name.trim() || group.values.trim());
  if (!used.length) return p.required ? { error: texts.forms.groupNeeded } : { value: undefined };
  const found: Record<string, string[]> = {};
  for (const group of used) {
    const values = group.values.split("\n").map((line) => line.trim()).filter(Boolean);
    if (!group.name.trim() || !values.length) return { error: texts.forms.groupWhole };
    if (found[group.name.trim()]) return { error: texts.forms.groupTwice };
    found[group.name.trim()] = values;
  }
  return { value: found };
}

/** A share as people write it: 0.5, 1/3 or 50 %. */
function shareOf(text: string): number | null {
  const odds = /^(\d+)\s*\/\s*(\d+)$/.exec(text);
  if (odds) return Number(odds[2]) === 0 ? null : Number(odds[1]) / Number(odds[2]);
  const percent = /^(\d+(?:\.\d+)?)\s*%$/.exec(text);
  if (percent) return Number(percent[1]) / 100;
  return /^\d*\.?\d+$/.test(text) ? Number(text) : null;
}

const percentText = (text: string): string => {
  const [whole, rest = ""] = text.replace(/\s*%$/, "").split(".");
  const digits = whole.padStart(3, "0") + rest;
  const point = digits.length - rest.length - 2;
  return `${digits.slice(0, point).replace(/^0+(?=\d)/, "")}.${digits.slice(point)}`.replace(/\.?0+$/, "") || "0";
};

/** A duration as a number and its unit. */
export function splitDuration(text: string): { number: string; unit: string } {
  const found = /^\s*([0-9]*)\s*(d|h|min|m|s)?\s*$/.exec(text);
  if (!found) return { number: text, unit: "min" };
  return { number: found[1], unit: found[2] === "m" ? "min" : (found[2] ?? "") };
}

/** Values of a recipe as the form shows them. */
export function filledFrom(parameters: Parameter[], given: Record<string, unknown>): FormValues {
  const found: FormValues = {};
  for (const p of parameters) {
    const value = given[p.name] ?? (p.required ? undefined : p.default);
    if (value === undefined) continue;
    if (p.kind === "sensitive") found[p.name] = value as Record<string, string[]>;
    else if (p.kind === "groups") {
      found[p.name] = Object.entries(value as Record<string, string[]>).map(([name, values]) => ({ name, values: values.join("\n") }));
    } else found[p.name] = textOf(value);
  }
  return found;
}

const textOf = (value: unknown): string => (value === null || value === undefined ? "" : String(value));

function isSame(value: unknown, standard: unknown): boolean {
  if (typeof value === "object") return JSON.stringify(value) === JSON.stringify(standard);
  return String(value) === String(standard);
}
