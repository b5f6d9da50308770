/** Charts with Observable Plot: real scales, units, and a text for everything that is drawn. */
import * as Plot from "@observablehq/plot";
import { element, onWidth } from "./dom";
import { formatClock, formatPercent, formatTick, formatValue } from "./format";
import type { ChartData, RiskRow, StageData } from "./results";
import { texts } from "./texts";

const COLOURS = ["var(--before-edge)", "var(--after)", "var(--third)", "var(--fourth)", "var(--sixth)", "var(--fifth)"];
const ALONE = "var(--after)";
const MOST_ROWS = 30;
const LETTER = 6.6; // pixels of a letter at the size of ticks, for margins

interface Row {
  label: string;
  series: string;
  x: number;
  value: number;
  people: number | null;
}

/** Puts a chart into an element, and draws it again when its width changes; returns what removes it. */
export const mount = (target: HTMLElement, draw: (width: number) => Element | null): (() => void) =>
  onWidth(target, (width) => {
    const drawn = draw(width);
    target.replaceChildren(...(drawn ? [drawn] : [nothing()]));
  });

function nothing(): HTMLElement {
  const made = document.createElement("p");
  made.className = "empty";
  made.textContent = texts.nothing;
  return made;
}

/** Draws with Plot; its own style sheet goes, because the policy of the page forbids inline styles. */
function draw(options: Plot.PlotOptions, spoken: string): SVGSVGElement {
  const found = Plot.plot({ ...options, className: "plot" });
  const svg = (found instanceof SVGSVGElement ? found : found.querySelector("svg.plot, svg:last-of-type")) as SVGSVGElement;
  for (const style of svg.querySelectorAll("style")) style.remove();
  for (const part of svg.querySelectorAll("[aria-label], [aria-description]")) {
    part.removeAttribute("aria-label");
    part.removeAttribute("aria-description");
  }
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", spoken);
  return svg;
}

function rowsOf(chart: ChartData, most: number): Row[] {
  return chart.series.flatMap(({ name, values, people }) =>
    chart.labels.slice(0, most).flatMap((label, i) => {
      const value = values[i];
      return value === null || value === undefined || !Number.isFinite(value) ? [] : [{ label, series: name, x: chart.at[i] ?? i, value, people: people?.[i] ?? null }];
    }),
  );
}

/** Raw first and published second, also where a chart tells them the other way round; one series alone is published. */
export function coloursOf(names: string[]): string[] {
  if (names.length === 1) return [/^(raw|original|before)/i.test(names[0]) ? COLOURS[0] : ALONE];
  const turned = names.length === 2 && /^(published|rejected|after)/i.test(names[0]);
  return names.map((_, i) => COLOURS[(turned ? 1 - i : i) % COLOURS.length]);
}

/** A chart of bars or lines; on a scale of numbers or times where its labels are such. */
export function drawChart(chart: ChartData, width: number): SVGSVGElement | null {
  const names = chart.series.map((series) => series.name);
  const colours = coloursOf(names);
  const rows = rowsOf(chart, chart.kind === "bars" && isFlat(chart, width) ? MOST_ROWS : 400);
  if (!rows.length) return null;
  const spoken = texts.spoken(chart.title, chart.kind, rows.length);
  const tick = (value: number) => formatTick(value, chart.percent);
  const told = (row: Row) => `${row.label}\n${names.length > 1 ? `${row.series}: ` : ""}${formatValue(row.value, chart.percent)}${texts.people(row.people)}`;
  const shared = { width, style: { fontSize: "12px" }, color: { domain: names, range: colours } };
  const values = { grid: true, tickFormat: tick, label: axisName(chart.y_label, width), nice: true, zero: true, ticks: 5 };
  if (chart.scale !== "names" && chart.at.length) {
    const clock = chart.scale === "clock";
    const last = chart.at[chart.at.length - 1];
    const text = new Map(chart.at.map((at, i) => [at, chart.labels[i]]));
    const ticks = clock ? [0, 3, 6, 9, 12, 15, 18, 21, 24].filter((hour) => hour >= chart.at[0] && hour <= last) : spread(chart, width);
    const curve = clock && chart.kind === "bars" ? ("step" as const) : ("linear" as const);
    return draw(
      {
        ...shared,
        height: 230,
        marginLeft: 54,
        marginRight: 22,
        marginBottom: 40,
        x: {
          label: axisName(chart.x_label, width),
          ticks,
          tickFormat: (value: number) => (clock ? formatClock(value) : (text.get(value) ?? String(value))),
        },
        y: values,
        marks: [
          Plot.ruleY([0], { stroke: "var(--quiet)" }),
          Plot.lineY(rows, { x: "x", y: "value", stroke: "series", strokeWidth: 2, curve }),
          Plot.dot(rows, { x: "x", y: "value", fill: "series", r: rows.length > 100 ? 0 : 2.6 }),
          tip(rows, { x: "x", y: "value", title: told }),
        ],
      },
      spoken,
    );
  }
  if (chart.kind === "line") {
    const order = chart.labels.filter((label, i) => chart.labels.indexOf(label) === i);
    return draw(
      {
        ...shared,
        height: 230,
        marginLeft: 54,
        marginBottom: 40,
        x: { type: "point", domain: order, label: axisName(chart.x_label, width), ticks: thinned(order, width) },
        y: values,
        marks: [
          Plot.ruleY([0], { stroke: "var(--quiet)" }),
          Plot.lineY(rows, { x: "label", y: "value", stroke: "series", strokeWidth: 2 }),
          Plot.dot(rows, { x: "label", y: "value", fill: "series", r: order.length > 100 ? 0 : 2.6 }),
          tip(rows, { x: "label", y: "value", title: told }),
        ],
      },
      spoken,
    );
  }
  if (isFlat(chart, width)) {
    const shown = chart.labels.slice(0, MOST_ROWS);
    const widest = Math.max(...shown.map((label) => label.length)) * LETTER;
    const left = Math.min(widest + 12, width * 0.42);
    const keep = Math.floor((left - 10) / LETTER);
    return draw(
      {
        ...shared,
        height: shown.length * (names.length * 10 + 9) + 44,
        marginLeft: left,
        marginRight: 46,
        x: { ...values, label: axisName(chart.y_label, width) },
        fy: { domain: shown, label: null, axis: "left", padding: 0.2, tickFormat: (label: string) => shortened(label, keep) },
        y: { domain: names, axis: null },
        marks: [
          Plot.ruleX([0], { stroke: "var(--quiet)" }),
          Plot.barX(rows, { x: "value", y: "series", fy: "label", fill: "series" }),
          Plot.text(rows, { x: "value", y: "series", fy: "label", text: (row: Row) => formatValue(row.value, chart.percent), textAnchor: "start", dx: 4, fill: "var(--quiet)", fontSize: 10.5 }),
          tip(rows, { x: "value", y: "series", fy: "label", title: told }),
        ],
      },
      spoken,
    );
  }
  return draw(
    {
      ...shared,
      height: 230,
      marginLeft: 54,
      marginBottom: 40,
      y: values,
      fx: { domain: chart.labels, label: axisName(chart.x_label, width), padding: 0.15 },
      x: { domain: names, axis: null },
      marks: [
        Plot.ruleY([0], { stroke: "var(--quiet)" }),
        Plot.barY(rows, { x: "series", y: "value", fx: "label", fill: "series" }),
        tip(rows, { x: "series", y: "value", fx: "label", title: told }),
      ],
    },
    spoken,
  );
}

const tip = (rows: unknown[], options: Record<string, unknown>) =>
  Plot.tip(rows as Row[], Plot.pointer({ ...options, fill: "var(--paper)", stroke: "var(--line)", textPadding: 7 } as never));

/** Whether bars lie: their labels do not fit side by side. */
function isFlat(chart: ChartData, width: number): boolean {
  if (chart.scale !== "names") return false;
  const widest = Math.max(1, ...chart.labels.map((label) => label.length));
  return chart.labels.length > 24 || (widest * LETTER + 6) * chart.labels.length > width - 60;
}

/** The name of an axis, as long as there is room; the table and the text below have all of it. */
const axisName = (text: string, width: number): string | null => (text ? shortened(text, Math.floor((width - 20) / LETTER)) : null);

const shortened = (text: string, letters: number): string => (text.length > letters ? `${text.slice(0, Math.max(1, letters - 1))}…` : text);

/** As many labels as fit side by side. */
function thinned(labels: string[], width: number): string[] {
  const widest = Math.max(1, ...labels.map((label) => label.length)) * LETTER + 8;
  const every = Math.max(1, Math.ceil((widest * labels.length) / (width - 70)));
  return labels.filter((_, i) => i % every === 0);
}

/** Of numbers on a real scale, those whose texts do not cover each other. */
function spread(chart: ChartData, width: number): number[] {
  const [low, high] = [chart.at[0], chart.at[chart.at.length - 1]];
  const scale = (width - 80) / (high - low || 1);
  const kept: number[] = [];
  let free = Number.NEGATIVE_INFINITY;
  chart.at.forEach((at, i) => {
    const half = (chart.labels[i].length * LETTER) / 2 + 3;
    const place = (at - low) * scale;
    if (place - half >= free) {
      kept.push(at);
      free = place + half;
    }
  });
  return kept;
}

/** What attackers achieve before and after: a line from raw to published, the person most at risk, and the limit. */
export function drawRisks(rows: RiskRow[], names: [string, string], width: number): SVGSVGElement | null {
  const shown = rows
    .map((row, i) => ({
      key: String(i),
      name: row.what ? `${row.name}: ${row.what}` : row.name,
      raw: row.raw?.value ?? null,
      published: row.published?.value ?? null,
      worst: row.published_worst?.value ?? null,
      low: row.published?.interval?.[0] ?? null,
      high: row.published?.interval?.[1] ?? null,
      limit: row.limit,
      title: [
        row.adversary,
        `${names[0]}: ${row.raw?.text ?? "–"}`,
        `${names[1]}: ${row.published?.text ?? "–"}${row.published?.interval_text ? ` (${row.published.interval_text})` : ""}`,
        row.published_worst ? `${texts.worst}: ${row.published_worst.text}` : "",
        row.published_above ? `${row.published_above.label}: ${row.published_above.text}` : "",
      ]
        .filter(Boolean)
        .map((line) => wrapped(line, 46))
        .join("\n"),
    }))
    .filter((row) => row.raw !== null || row.published !== null);
  if (!shown.length) return null;
  const narrow = width < 520;
  const widest = Math.max(...shown.map((row) => row.name.length)) * LETTER;
  const left = narrow ? 12 : Math.min(widest + 14, width * 0.36);
  const keep = Math.floor((narrow ? width - 40 : left - 12) / LETTER);
  const name = new Map(shown.map((row) => [row.key, shortened(row.name, keep)]));
  const limits = new Set(shown.map((row) => row.limit).filter((limit) => limit !== null));
  const one = limits.size === 1 ? [...limits][0] : null;
  const y = "key";
  const range = shown.filter((row) => row.low !== null && row.high !== null);
  const both = shown.filter((row) => row.raw !== null && row.published !== null);
  return draw(
    {
      width,
      height: shown.length * (narrow ? 44 : 30) + 64,
      marginLeft: left,
      marginRight: 26,
      marginTop: 26,
      marginBottom: 38,
      style: { fontSize: "12px" },
      x: { domain: [0, 1], grid: true, tickFormat: (value: number) => formatTick(value, true), label: axisName(texts.risk, width), ticks: narrow ? 3 : 5 },
      y: { type: "band", domain: shown.map((row) => row.key), label: null, axis: narrow ? null : "left", tickSize: 0, tickFormat: (key: string) => name.get(key) ?? "" },
      marks: [
        one !== null ? Plot.ruleX([one], { stroke: "var(--limit)", strokeWidth: 1.5, strokeDasharray: "6 3" }) : null,
        one !== null
          ? Plot.text([one], { x: (value: number) => value, text: () => texts.limit(rows.find((row) => row.limit === one)?.limit_text ?? formatPercent(one)), frameAnchor: "top", dy: -16, fill: "var(--limit)", textAnchor: one > 0.8 ? "end" : "start" })
          : Plot.tickX(shown.filter((row) => row.limit !== null), { x: "limit", y, stroke: "var(--limit)", strokeWidth: 1.5, strokeDasharray: "4 2" }),
        narrow ? Plot.text(shown, { x: 0, y, text: (row) => name.get(row.key), textAnchor: "start", dy: -15, fill: "var(--ink)" }) : null,
        Plot.ruleY(range, { x1: "low", x2: "high", y, stroke: "var(--after)", strokeWidth: 7, strokeOpacity: 0.3 }),
        Plot.ruleY(both, { x1: "raw", x2: "published", y, stroke: "var(--quiet)", strokeWidth: 1.5 }),
        Plot.tickX(shown.filter((row) => row.worst !== null), { x: "worst", y, stroke: "var(--after)", strokeWidth: 3, insetTop: 6, insetBottom: 6 }),
        Plot.dot(shown.filter((row) => row.raw !== null), { x: "raw", y, r: 5, fill: "var(--paper)", stroke: "var(--before-edge)", strokeWidth: 2 }),
        Plot.dot(shown.filter((row) => row.published !== null), { x: "published", y, r: 5, fill: "var(--after)", stroke: "var(--paper)", strokeWidth: 1 }),
        tip(shown, { x: (row: (typeof shown)[number]) => row.published ?? row.raw, y, title: "title" }),
      ],
    },
    texts.spoken(texts.riskChart, "dumbbells", shown.length),
  );
}

function wrapped(text: string, most: number): string {
  const lines: string[] = [""];
  for (const word of text.split(" ")) {
    if (lines[lines.length - 1].length + word.length > most && lines[lines.length - 1]) lines.push("");
    lines[lines.length - 1] += `${lines[lines.length - 1] ? " " : ""}${word}`;
  }
  return lines.join("\n");
}

export interface Spot {
  name: string;
  title: string;
  risk: number;
  loss: number;
  dominated: boolean;
  chosen?: boolean;
}

interface FrontierOptions {
  raw: number | null;
  limit: number | null;
  riskLabel: string;
  lossLabel: string;
  percent: boolean;
}

/** Risk over loss: what no other setting beats, its knee, the raw data and the limit; hovering shows a setting. */
export function drawFrontier(spots: Spot[], options: FrontierOptions, width: number): HTMLElement | null {
  if (!spots.length) return null;
  const height = Math.min(420, Math.max(300, width * 0.55));
  const margin = { top: 26, right: 24, bottom: 42, left: 56 };
  const best = spots.filter((spot) => !spot.dominated).sort((a, b) => a.loss - b.loss);
  const knee = kneeOf(best);
  const [lossLow, lossHigh] = [Math.min(0, ...spots.map((spot) => spot.loss)), Math.max(1e-6, ...spots.map((spot) => spot.loss)) * 1.05];
  const riskHigh = Math.max(1e-6, options.limit ?? 0, options.raw ?? 0, ...spots.map((spot) => spot.risk)) * 1.05;
  const at = (spot: { loss: number; risk: number }): [number, number] => [
    margin.left + ((spot.loss - lossLow) / (lossHigh - lossLow)) * (width - margin.left - margin.right),
    margin.top + (1 - spot.risk / riskHigh) * (height - margin.top - margin.bottom),
  ];
  // What is written already must not be written over: the limit at the right end of its line, the raw data beside its mark.
  const written: Box[] = [];
  const limitText = options.limit === null ? "" : texts.limit(formatPercent(options.limit));
  if (options.limit !== null) {
    const [, y] = at({ loss: 0, risk: options.limit });
    written.push([width - margin.right - limitText.length * LETTER, y - 16, width - margin.right, y]);
  }
  if (options.raw !== null) {
    const [x, y] = at({ loss: 0, risk: options.raw });
    written.push([x - 7, y - 7, x + 12 + texts.raw.length * LETTER, y + 7]);
  }
  const label = (spot: Spot) => (spot === knee ? `${spot.name} (${texts.knee})` : spot.name);
  const first = (spot: Spot) => (spot.chosen ? 0 : spot === knee ? 1 : spot.dominated ? 3 : 2);
  const placed = placeNames([...spots].sort((a, b) => first(a) - first(b)), at, width, height, label, written);
  const steps = best.flatMap((spot, i) => [spot, { loss: best[i + 1]?.loss ?? spot.loss, risk: spot.risk }]);
  const svg = draw(
    {
      width,
      height,
      marginTop: margin.top,
      marginRight: margin.right,
      marginBottom: margin.bottom,
      marginLeft: margin.left,
      style: { fontSize: "12px" },
      x: { domain: [lossLow, lossHigh], grid: true, tickFormat: (value: number) => formatTick(value, options.percent), label: axisName(`loss: ${options.lossLabel}`, width), ticks: width < 500 ? 4 : 8 },
      r: { type: "identity" },
      y: { domain: [0, riskHigh], grid: true, tickFormat: (value: number) => formatTick(value, true), label: axisName(`risk: ${options.riskLabel}`, width), ticks: 6 },
      marks: [
        options.limit !== null ? Plot.ruleY([options.limit], { stroke: "var(--limit)", strokeWidth: 1.5, strokeDasharray: "6 3" }) : null,
        options.limit !== null
          ? Plot.text([options.limit], { y: (value: number) => value, frameAnchor: "right", text: () => limitText, dy: -7, textAnchor: "end", fill: "var(--limit)" })
          : null,
        steps.length > 2 ? Plot.line(steps, { x: "loss", y: "risk", stroke: "var(--after)", strokeDasharray: "4 3" }) : null,
        options.raw !== null ? Plot.dot([{ loss: 0, risk: options.raw }], { x: "loss", y: "risk", r: 6, symbol: "diamond", fill: "var(--before)", stroke: "var(--before-edge)", strokeWidth: 1.5 }) : null,
        options.raw !== null ? Plot.text([{ loss: 0, risk: options.raw }], { x: "loss", y: "risk", text: () => texts.raw, textAnchor: "start", dx: 10, fill: "var(--before-edge)" }) : null,
        knee ? Plot.dot([knee], { x: "loss", y: "risk", r: 11, stroke: "var(--after)", strokeWidth: 1.5 }) : null,
        Plot.dot(spots, {
          x: "loss",
          y: "risk",
          r: (spot: Spot) => (spot.chosen ? 7 : 5),
          fill: (spot: Spot) => (spot.chosen ? "var(--third)" : spot.dominated ? "var(--line)" : "var(--after)"),
          stroke: (spot: Spot) => (spot.dominated ? "var(--quiet)" : "var(--paper)"),
        }),
        ...placed.map(({ spot, dx, dy }) =>
          Plot.text([spot], {
            x: "loss",
            y: "risk",
            dx,
            dy,
            textAnchor: "start",
            text: () => label(spot),
            fill: spot.dominated ? "var(--quiet)" : "var(--ink)",
            fontWeight: spot.dominated ? "normal" : "bold",
          }),
        ),
        // Only tells which setting is meant; the card beside it shows it.
        Plot.dot(spots, Plot.pointer({ x: "loss", y: "risk", r: 8, stroke: "var(--ink)", strokeWidth: 1.5 })),
      ],
    },
    texts.spoken(texts.frontier, "points", spots.length),
  );
  return withCard(svg, (spot: Spot) => at(spot), (spot) => settingCard(spot, options), width);
}

/** A chart with a card beside what the pointer is at; Plot says what that is by the value of the chart. */
function withCard<T>(svg: SVGSVGElement, at: (value: T) => [number, number], content: (value: T) => Node[], width: number): HTMLElement {
  const card = element("div", { class: "hover-card", hidden: true, "data-testid": "hover-card" });
  svg.addEventListener("input", () => {
    const value = (svg as unknown as { value: T | null }).value;
    card.hidden = value === null;
    if (value === null) return;
    card.replaceChildren(...content(value));
    const [x, y] = at(value);
    card.style.left = `${Math.max(0, Math.min(x + 16, width - 255))}px`;
    card.style.top = `${y + 14}px`;
  });
  const chart = element("div", { class: "with-card" }, svg, card);
  // The card stands where the chart was when it was drawn: on another width it would stick out.
  new ResizeObserver(() => (card.hidden = true)).observe(chart);
  return chart;
}

/** A setting in words, and what it does: from the risk of the raw data to its own, and how much is lost. */
function settingCard(spot: Spot, options: FrontierOptions): Node[] {
  const state = spot.chosen ? texts.chosen : spot.dominated ? texts.beaten : texts.best;
  const rows = [
    { what: "risk", from: options.raw, to: spot.risk },
    ...(options.percent ? [{ what: "loss", from: 0, to: spot.loss }] : []),
  ];
  const drawn = draw(
    {
      width: 226,
      height: 22 * rows.length + 26,
      marginLeft: 34,
      marginRight: 44,
      marginTop: 4,
      marginBottom: 20,
      style: { fontSize: "11px" },
      x: { domain: [0, Math.max(1, ...rows.map((row) => row.to))], ticks: 3, tickFormat: (value: number) => formatTick(value, true), label: null, grid: true },
      y: { type: "band", domain: rows.map((row) => row.what), label: null, tickSize: 0 },
      marks: [
        Plot.ruleY(rows.filter((row) => row.from !== null), { x1: "from", x2: "to", y: "what", stroke: "var(--quiet)", strokeWidth: 1.5 }),
        options.limit !== null ? Plot.tickX([rows[0]], { x: () => options.limit, y: "what", stroke: "var(--limit)", strokeWidth: 1.5 }) : null,
        Plot.dot(rows.filter((row) => row.from !== null), { x: "from", y: "what", r: 4, fill: "var(--paper)", stroke: "var(--before-edge)", strokeWidth: 2 }),
        Plot.dot(rows, { x: "to", y: "what", r: 4, fill: "var(--after)" }),
      ],
    },
    "",
  );
  const before = options.raw === null ? "" : `${formatPercent(options.raw)} → `;
  return [
    element("strong", {}, spot.title),
    element("p", {}, `${options.riskLabel}: ${before}${formatPercent(spot.risk)}`),
    element("p", {}, `${options.lossLabel}: ${formatValue(spot.loss, options.percent)}`),
    drawn,
    element("p", {}, state),
  ];
}

/** The setting farthest below the straight line between the ends of the frontier: there it bends. */
export function kneeOf<T extends { loss: number; risk: number }>(best: T[]): T | null {
  if (best.length < 3) return null;
  const [first, last] = [best[0], best[best.length - 1]];
  const [wide, high] = [last.loss - first.loss, first.risk - last.risk];
  if (wide <= 0 || high <= 0) return null;
  const below = (spot: T) => 1 - (spot.loss - first.loss) / wide - (spot.risk - last.risk) / high;
  const found = best.reduce((most, spot) => (below(spot) > below(most) ? spot : most));
  return below(found) > 0.05 ? found : null;
}

type Box = [number, number, number, number];

/** Puts names beside their marks where nothing else is; those without room are left out: the table has them. */
export function placeNames(
  spots: Spot[],
  at: (spot: Spot) => [number, number],
  width: number,
  height: number,
  label: (spot: Spot) => string = (spot) => spot.name,
  written: Box[] = [],
): { spot: Spot; dx: number; dy: number }[] {
  const taken: Box[] = [
    ...written,
    ...spots.map((spot): Box => {
      const [x, y] = at(spot);
      return [x - 5, y - 5, x + 5, y + 5];
    }),
  ];
  const placed = [];
  for (const spot of spots) {
    const [x, y] = at(spot);
    const wide = label(spot).length * LETTER + 4;
    for (const [dx, dy] of [[9, -8], [9, 10], [-wide - 6, -8], [-wide - 6, 10], [-wide / 2, -17], [-wide / 2, 19]]) {
      const box: Box = [x + dx, y + dy - 7, x + dx + wide, y + dy + 7];
      const inside = box[0] >= 0 && box[2] <= width && box[1] >= 0 && box[3] <= height;
      if (inside && !taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])) {
        taken.push(box);
        placed.push({ spot, dx, dy });
        break;
      }
    }
  }
  return placed;
}

const FLOW_HEIGHT = 176; // of what is drawn, between the margins

/** By how much texts must move down so that none is nearer to the one above it than a line; `at` goes downwards. */
export function apart(at: number[], line: number): number[] {
  let free = Number.NEGATIVE_INFINITY;
  return at.map((place) => {
    const put = Math.max(place, free);
    free = put + line;
    return put - place;
  });
}

/** What is left after each step: people, trips and rows as shares of what came in. */
export function drawFlow(stages: StageData[], width: number): SVGSVGElement | null {
  const first = { trips: stages.find((stage) => stage.trips !== null)?.trips ?? null, people: stages.find((stage) => stage.people !== null)?.people ?? null };
  const rows: { stage: string; what: string; share: number; title: string }[] = [];
  let kept = 1;
  stages.forEach((stage, i) => {
    const before = stages[i - 1];
    if (before && (before.row_word === stage.row_word || before.row_word === "rows") && before.rows) kept *= Math.min(1, stage.rows / before.rows);
    const step = `${i + 1}. ${stage.name}`;
    rows.push({ stage: step, what: "rows", share: kept, title: `${stage.name}: ${stage.rows.toLocaleString("en-US")} ${stage.row_word}` });
    for (const what of ["trips", "people"] as const) {
      const [count, all] = [stage[what], first[what]];
      if (count !== null && all) rows.push({ stage: step, what, share: count / all, title: `${stage.name}: ${count.toLocaleString("en-US")} ${what}` });
    }
  });
  if (stages.length < 2) return null;
  const kinds = ["rows", "trips", "people"].filter((what) => rows.some((row) => row.what === what));
  const last = `${stages.length}. ${stages[stages.length - 1].name}`;
  const ends = rows.filter((row) => row.stage === last).sort((a, b) => b.share - a.share);
  const lowered = apart(ends.map((row) => (1 - row.share) * FLOW_HEIGHT), 14);
  return draw(
    {
      width,
      height: 230,
      marginLeft: 54,
      marginRight: 60,
      marginBottom: 34,
      style: { fontSize: "12px" },
      color: { domain: kinds, range: ["var(--after)", "var(--before-edge)", "var(--third)"] },
      x: { type: "point", domain: stages.map((stage, i) => `${i + 1}. ${stage.name}`), label: null },
      y: { domain: [0, 1], grid: true, tickFormat: (value: number) => formatTick(value, true), label: null },
      marks: [
        Plot.ruleY([0], { stroke: "var(--quiet)" }),
        Plot.ruleY([0.5], { stroke: "var(--limit)", strokeDasharray: "6 3" }),
        Plot.lineY(rows, { x: "stage", y: "share", stroke: "what", strokeWidth: 2.5, curve: "bump-x" }),
        Plot.dot(rows, { x: "stage", y: "share", fill: "what", r: 4 }),
        ...ends.map((row, i) => Plot.text([row], { x: "stage", y: "share", text: () => `${row.what} ${formatPercent(row.share)}`, textAnchor: "start", dx: 8, dy: lowered[i], fill: "what" })),
        tip(rows, { x: "stage", y: "share", title: "title" }),
      ],
    },
    texts.spoken(texts.flow, "lines", rows.length),
  );
}
