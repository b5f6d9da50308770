/** A chart of lines in the plane as a map of one side. */
import type { ChartData, MapData } from "./results";

export function mapOfChart(chart: ChartData): MapData {
  const lines = chart.lines;
  const [xs, ys] = [lines.flatMap((line) => [line[0], line[2]]), lines.flatMap((line) => [line[1], line[3]])];
  const low = [xs, ys].map((values) => values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY));
  const high = [xs, ys].map((values) => values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY));
  const step = Math.max(high[0] - low[0], high[1] - low[1], 1e-3) / 20000;
  const place = (value: number, axis: number) => Math.round((value - low[axis]) / step);
  const none = lines.map(() => null);
  return {
    title: chart.title,
    finding: chart.finding,
    below: chart.x_label,
    names: ["", chart.series[0]?.name ?? ""],
    what: chart.x_label,
    percent: chart.percent,
    origin: [low[0], low[1]],
    step,
    extent: [low[0], low[1], high[0], high[1]],
    marks: {
      kind: "roads",
      labels: chart.labels,
      x: lines.map((line) => place(line[0], 0)),
      y: lines.map((line) => place(line[1], 1)),
      x2: lines.map((line) => place(line[2], 0)),
      y2: lines.map((line) => place(line[3], 1)),
      raw: none,
      published: chart.series[0]?.values ?? none,
      raw_people: none,
      published_people: none,
      withheld: [false, false],
    },
    slices: [],
    background: null,
    layers: [],
  };
}
