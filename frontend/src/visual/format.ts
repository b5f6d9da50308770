/** How numbers are told: the same rules as in Python. */
const NOTHING = "–";

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

/** The time of the day of a number of hours. */
export function formatClock(hours: number): string {
  const minutes = Math.round(hours * 60);
  return `${String(Math.floor(minutes / 60) % 24).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
}

/** The name of an axis tick: percent without needless digits. */
export function formatTick(value: number, percent: boolean): string {
  if (!percent) return Math.abs(value) >= 10000 ? value.toLocaleString("en-US", { notation: "compact" }) : formatNumber(value);
  return `${Number((value * 100).toPrecision(3))}\u00a0%`;
}
