/** What a result says beyond its numbers, which are told in Python. */
import { formatNumber } from "./words";

/** A part of a counter-example as lines of text. */
export function linesOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.map((part) => linesOf(part).join(", "));
  if (value !== null && typeof value === "object") return Object.entries(value).map(([key, part]) => `${key}: ${linesOf(part).join(", ")}`);
  return [typeof value === "number" ? formatNumber(value) : String(value)];
}
