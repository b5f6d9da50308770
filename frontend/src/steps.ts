/** Chains of preparation steps: which kind of data is where, and what can be added. */
import type { DataKind, Method, Step } from "./api";
import type { ChosenStep, Draft } from "./draft";

type Takes = { accepts: DataKind; accepts_also: DataKind[] };

export const takes = (part: Takes, kind: DataKind | null): boolean => kind !== null && (part.accepts === kind || part.accepts_also.includes(kind));

/** What a step makes of a kind: its own, or the same of a kind that it takes besides. */
const made = (step: Step, kind: DataKind): DataKind => (step.accepts === kind ? step.gives : kind);

/** The kinds of data before each step and at the end; null where a step does not fit. */
export function kindsAlong(kind: DataKind, chosen: ChosenStep[], steps: Step[]): (DataKind | null)[] {
  const found: (DataKind | null)[] = [kind];
  for (const { step } of chosen) {
    const declared = steps.find((one) => one.name === step);
    const before = found[found.length - 1];
    found.push(declared && before && takes(declared, before) ? made(declared, before) : null);
  }
  return found;
}

/** The step that makes the data of a method out of the data that there are; null if there is none or none is needed. */
export function stepBetween(kind: DataKind, method: Method, steps: Step[]): Step | null {
  if (takes(method, kind)) return null;
  return steps.find((step) => step.accepts === kind && step.gives === method.accepts) ?? null;
}

export const isReachable = (kind: DataKind, method: Method, steps: Step[]): boolean =>
  takes(method, kind) || stepBetween(kind, method, steps) !== null;

/** Steps that a method cannot do without. */
export function neededSteps(kind: DataKind, method: Method, steps: Step[]): string[] {
  const between = stepBetween(kind, method, steps);
  return [...(between ? [between.name] : []), ...(method.name === "qid" ? ["mark"] : [])];
}

/** Steps that can be put somewhere into the chain without breaking it. */
export function addable(kind: DataKind, chosen: ChosenStep[], steps: Step[]): Step[] {
  const kinds = kindsAlong(kind, chosen, steps);
  return steps.filter((step) => kinds.some((one) => one !== null && takes(step, one) && made(step, one) === one));
}

/** Puts a step at the last place where it fits, but before one that marks. */
export function withStep(kind: DataKind, chosen: ChosenStep[], steps: Step[], name: string): ChosenStep[] {
  const step = steps.find((one) => one.name === name);
  if (!step) return chosen;
  const kinds = kindsAlong(kind, chosen, steps);
  let place = kinds.findLastIndex((one) => takes(step, one));
  if (place < 0) return chosen;
  if (name !== "mark" && place > 0 && chosen[place - 1].step === "mark") place--;
  const key = Math.max(-1, ...chosen.map((one) => one.key)) + 1;
  return [...chosen.slice(0, place), { key, step: name, values: {} }, ...chosen.slice(place)];
}

/** The files beside the data that a kind and a chain of steps need, and whether the draft has them. */
export function neededFiles(kind: DataKind | null, chosen: string[], draft: Draft): { role: "network" | "taxonomy" | "places" | "zones"; there: boolean }[] {
  const roles = new Set<"network" | "taxonomy" | "places">();
  if (kind === "routes" || chosen.includes("match")) roles.add("network");
  if (kind === "stops") roles.add("taxonomy");
  if (chosen.includes("stops")) roles.add("places");
  const needed = [...roles].map((role) => ({ role, there: draft.side[role] !== undefined }));
  // Zones may be given as a file; without one they are squares.
  return chosen.includes("zones") ? [...needed, { role: "zones" as const, there: true }] : needed;
}
