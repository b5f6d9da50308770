/** How numbers and names are told: the same rules as in the HTML report. */
import { texts } from "./texts";
import { formatNumber } from "./visual/format";

const NOTHING = "–";

export { formatNumber, formatPercent, formatValue } from "./visual/format";

export function formatBytes(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined) return NOTHING;
  const units = ["B", "kB", "MB", "GB", "TB"];
  let size = bytes;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit++;
  }
  return `${unit === 0 || size >= 100 ? Math.round(size) : Number(size.toFixed(1))}\u00a0${units[unit]}`;
}

export function formatSeconds(seconds: number): string {
  if (seconds < 0.9995) return `${Math.max(1, Math.round(seconds * 1000))} ms`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes} min ${whole % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function formatDate(text: string | null | undefined): string {
  const when = text ? new Date(text) : null;
  if (!when || Number.isNaN(when.getTime())) return NOTHING;
  return when.toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
}

/** What to try, in the words of the page: results tell it as options of the command line. */
export function pageWords(remedy: string): string {
  return remedy
    .replace(/--prepare '?([a-z]+) ?([^']*)'?/, (_, step: string, given: string) => texts.remedies.step(step, given.trim().replaceAll("=", " ")))
    .replace("--time-bucket WIDTH (coarser times)", texts.remedies.bucket)
    .replace("(with --places FILE)", texts.remedies.places)
    .replace("a wider --every, such as 1d or all", texts.remedies.every)
    .replace("wayveil advise RECIPE", texts.remedies.advise)
    .replace("wayveil measure, which runs", texts.remedies.measure);
}

/** A name of the code in words. */
export function words(name: string): string {
  const known = texts.names[name];
  if (known) return known;
  for (const [end, unit] of [
    ["_m2", "m²"],
    ["_m", "m"],
  ] as const) {
    if (name.endsWith(end) && !name.includes(" ")) return `${words(name.slice(0, -end.length))} (${unit})`;
  }
  let text = name.includes(" ")
    ? name
    : name
        .split("_")
        .filter(Boolean)
        .map((part) => texts.nameParts[part] ?? part)
        .join(" ");
  if (text.endsWith(" share") && !name.includes(" ")) text = `share of ${text.slice(0, -6)}`;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A text as a sentence; an attacker may come without a subject, as in "knows 3 visits". */
export function sentence(text: string): string {
  let told = text.trim();
  if (/^[a-z]/.test(told)) {
    told = /^(knows|sees|has) /.test(told) ? `${texts.attackerWho} ${told}` : told.charAt(0).toUpperCase() + told.slice(1);
  }
  return !told || /[.!?]$/.test(told) ? told : `${told}.`;
}

/** Odds beside a probability, where they say more than the percentage. */
export function oneIn(share: number | null | undefined): string {
  if (share === null || share === undefined || share <= 1e-9 || share > 0.5) return "";
  const exact = Math.abs(1 / share - Math.round(1 / share)) < 1e-6;
  if (!exact && share >= 0.25) return "";
  return texts.oneIn(Math.round(1 / share).toLocaleString("en-US"), exact);
}

/** A parameter's value as a person reads it. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return NOTHING;
  if (typeof value === "number") return formatNumber(value);
  if (typeof value === "object") {
    const listed = Object.entries(value as Record<string, unknown>).map(
      ([name, inside]) => `${name}: ${Array.isArray(inside) ? inside.join(", ") : String(inside)}`,
    );
    return listed.join("; ") || texts.none;
  }
  return String(value);
}
