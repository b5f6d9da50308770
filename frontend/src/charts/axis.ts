/** The axis of values: ticks at 1, 2 or 5 times a power of ten. */
export interface Axis {
  low: number;
  high: number;
  step: number;
  ticks: number[];
}

export function makeAxis(low: number, high: number, whole: boolean): Axis {
  const top = high - low < 1e-300 ? low + 1 : high;
  const wanted = (top - low) / 5;
  const power = 10 ** Math.floor(Math.log10(wanted));
  let step = [1, 2, 5, 10].map((nice) => nice * power).find((size) => size >= wanted * (1 - 1e-9)) ?? 10 * power;
  if (whole) step = Math.max(step, 1);
  const first = Math.floor(low / step + 1e-9);
  const last = Math.ceil(top / step - 1e-9);
  const ticks = Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
  return { low: ticks[0], high: ticks[ticks.length - 1], step, ticks };
}

/** Where a value lies between the ends of the axis, as a share. */
export const along = (axis: Axis, value: number): number => (value - axis.low) / (axis.high - axis.low);

export function tickName(tick: number, step: number, percent: boolean): string {
  const scale = percent ? 100 : 1;
  const unit = percent ? "\u00a0%" : "";
  const size = Math.max(Math.abs(tick), step) * scale;
  if (size >= 1e12 || step * scale < 1e-6) return `${(tick * scale).toPrecision(2)}${unit}`;
  for (const [limit, letter] of [
    [1e9, "G"],
    [1e6, "M"],
  ] as const) {
    if (size >= limit && step * scale >= limit / 100) return `${Number(((tick * scale) / limit).toFixed(6))}${letter}${unit}`;
  }
  const digits = Math.max(0, -Math.floor(Math.log10(step * scale) + 1e-9));
  return `${(tick * scale).toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })}${unit}`;
}

/** About how wide a text is, in units of a drawing with letters of 12 units. */
export function widthOf(text: string): number {
  let width = 0;
  for (const letter of text) {
    if ("iljtf.,:;|'! ()[]".includes(letter)) width += 3.8;
    else if ("mwMW@%".includes(letter)) width += 10.5;
    else if (letter >= "A" && letter <= "Z") width += 8.2;
    else if (letter.charCodeAt(0) > 0x2e80) width += 12;
    else width += 6.9;
  }
  return width;
}

/** A text that is cut so that it is about as wide as there is room. */
export function shortened(text: string, room: number): string {
  if (widthOf(text) <= room) return text;
  let cut = text;
  while (cut.length > 1 && widthOf(cut) + 9 > room) cut = cut.slice(0, -1);
  return `${cut.trimEnd()}…`;
}

export type Colour = "after" | "before" | "third" | "fourth" | "fifth" | "sixth";

/** A colour per series: raw data are orange and published data blue, wherever they occur. */
export function coloursOf(names: string[]): Colour[] {
  const free: Colour[] = ["after", "before", "third", "fourth", "fifth", "sixth"];
  const found: (Colour | undefined)[] = names.map(() => undefined);
  for (const [colour, pattern] of [
    ["before", /^(raw|original|before|input)\b/i],
    ["after", /^(published|rejected|after|output)\b/i],
  ] as const) {
    const match = names.findIndex((name) => pattern.test(name));
    if (match >= 0) {
      found[match] = colour;
      free.splice(free.indexOf(colour), 1);
    }
  }
  return found.map((colour) => colour ?? free.shift() ?? "sixth");
}
