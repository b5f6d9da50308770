/** How numbers and names are told: the same rules as in the HTML report. */
import { texts } from "./texts";

const NOTHING = "–";
const SHARE = new Set(
  "share mean max median risk probability confidence loss rate lost kept overlap identity attribute inference".split(" "),
);
const COUNT = new Set("n number count people owners visits trajectories sequences matches".split(" "));

/** A number for people. */
export function formatNumber(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOTHING;
  const size = Math.abs(value);
  if (size >= 1e15 || (size > 0 && size < 1e-6)) return value.toPrecision(3);
  if (Number.isInteger(value)) return value.toLocaleString("en-US");
  if (size >= 1000) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toFixed(Math.max(1, 2 - Math.floor(Math.log10(size))))));
}

/** A share in percent; only 0 is 0 % and only 1 is 100 %. */
export function formatPercent(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return NOTHING;
  const percent = share * 100;
  if (Math.abs(percent - Math.round(percent)) < 1e-9 && (share === 0 || Math.round(percent) !== 0)) {
    return `${Math.round(percent).toLocaleString("en-US")}\u00a0%`;
  }
  for (let digits = 1; digits <= 4; digits++) {
    const text = percent.toFixed(digits);
    if (Number(text) !== 0 && Number(text) !== 100) return `${text.replace(/\.0$/, "")}\u00a0%`;
  }
  return Math.abs(percent) < 1 ? "< 0.0001\u00a0%" : "nearly 100\u00a0%";
}

export const formatValue = (value: number | null | undefined, percent: boolean): string =>
  percent ? formatPercent(value) : formatNumber(value);

/** Values of one scale, with as many digits as tell them apart. */
export function formatApart(values: number[], percent: boolean): string[] {
  const told = values.map((value) => formatValue(value, percent));
  if (new Set(told).size === new Set(values).size) return told;
  const factor = percent ? 100 : 1;
  return values.map((value) => `${Number((value * factor).toPrecision(3))}${percent ? "\u00a0%" : ""}`);
}

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

/** Whether numbers of this name are told in percent. */
export function isShare(name: string, ...values: (number | null | undefined)[]): boolean {
  const parts = name.toLowerCase().split(/[_\s]+/);
  const given = values.filter((value): value is number => typeof value === "number");
  return (
    given.length > 0 &&
    given.every((value) => value >= 0 && value <= 1) &&
    parts.some((part) => SHARE.has(part)) &&
    (parts.includes("share") || !parts.some((part) => COUNT.has(part)))
  );
}

/** A threshold: 1/30 where it is that, else in percent. */
export function boundWords(bound: number, odds: boolean): string {
  const whole = Math.round(1 / bound);
  if (odds && whole > 1 && Math.abs(1 / whole - bound) < 1e-12) return `1/${whole.toLocaleString("en-US")}`;
  return formatPercent(bound);
}

/** Odds beside a probability, where they say more than the percentage. */
export function oneIn(share: number | null | undefined): string {
  if (share === null || share === undefined || share <= 1e-9 || share > 0.5) return "";
  const exact = Math.abs(1 / share - Math.round(1 / share)) < 1e-6;
  if (!exact && share >= 0.25) return "";
  return texts.oneIn(Math.round(1 / share).toLocaleString("en-US"), exact);
}

/** "1/3", "0.5" and 0.5 as a number. */
export function asNumber(value: unknown): number | null {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value !== "string") return null;
  const parts = value.split("/");
  const found = parts.length === 2 ? Number(parts[0]) / Number(parts[1]) : Number(value);
  return value.trim() !== "" && Number.isFinite(found) ? found : null;
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
