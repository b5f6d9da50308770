/** Bars, standing or lying, and lines: one group of values per label. */
import type { ReactNode } from "react";
import type { Chart } from "../api";
import { texts } from "../texts";
import { formatValue } from "../words";
import { type Axis, along, type Colour, coloursOf, makeAxis, shortened, tickName, widthOf } from "./axis";

const WIDTH = 400;
const SMALL = 10.5;
const MOST_STANDING = 60;
const MOST_LYING = 30;
const BESIDE = 130;

interface Plot {
  chart: Chart;
  labels: string[];
  columns: (number | null)[][];
  colours: Colour[];
  axis: Axis;
  tickNames: string[];
}

/** The greatest value that an axis has to reach, so that two drawings can share one scale. */
export const topOf = (chart: Chart): number =>
  Math.max(0, ...chart.series.flatMap((series) => series.values.filter((value): value is number => value !== null)));

export function isFlat(chart: Chart): boolean {
  return chart.kind === "bars" && !standsUpright(chart.labels);
}

export function Bars({ chart, top, colours, spoken }: { chart: Chart; top?: number; colours?: Colour[]; spoken?: string }) {
  const flat = isFlat(chart);
  const drawn = chart.kind === "line" ? chart.labels.length : Math.min(chart.labels.length, flat ? MOST_LYING : MOST_STANDING);
  const columns = chart.series.map((series) => series.values.slice(0, drawn).map(drawable));
  const present = columns.flat().filter((value): value is number => value !== null);
  const whole = !chart.percent && present.every((value) => Number.isInteger(value));
  const axis = makeAxis(Math.min(0, ...present), Math.max(0, top ?? 0, ...present), whole);
  const plot: Plot = {
    chart,
    labels: chart.labels.slice(0, drawn),
    columns,
    colours: colours ?? coloursOf(chart.series.map((series) => series.name)),
    axis,
    tickNames: axis.ticks.map((tick) => tickName(tick, axis.step, chart.percent)),
  };
  const [height, body] = chart.kind === "line" ? line(plot) : flat ? lying(plot) : standing(plot);
  const names = chart.series.map((series) => series.name);
  return (
    <>
      <svg
        viewBox={`0 0 ${WIDTH} ${Math.round(height)}`}
        role="img"
        aria-label={spoken ?? texts.charts.spoken(chart.title, chart.kind, plot.labels.length, names)}
      >
        {body}
      </svg>
      {drawn < chart.labels.length && <p className="axis">{texts.charts.first(drawn, chart.labels.length)}</p>}
    </>
  );
}

function standing(plot: Plot): [number, ReactNode] {
  const [height, top, bottom] = [220, 18, 24];
  const left = Math.max(...plot.tickNames.map(widthOf)) + 8;
  const slot = (WIDTH - left - 2) / plot.labels.length;
  const thick = Math.min(34, (slot * 0.8) / plot.columns.length);
  const y = (value: number) => top + (height - top - bottom) * (1 - along(plot.axis, value));
  const shown = plot.columns.flat().filter((value): value is number => value !== null);
  const numbers = shown.every((value) => (widthOf(formatValue(value, plot.chart.percent)) * SMALL) / 12 <= thick + 3);
  return [
    height,
    <>
      {levels(plot, left, y)}
      {plot.labels.map((label, row) =>
        plot.columns.map((column, i) => {
          const value = column[row];
          if (value === null) return null;
          const x = left + slot * (row + 0.5) + thick * (i - plot.columns.length / 2);
          const [from, to] = [Math.min(y(value), y(0)), Math.max(y(value), y(0))];
          return (
            <g key={`${row}.${i}`}>
              <rect
                className={`bar ${plot.colours[i]}`}
                x={x}
                y={from}
                width={Math.max(thick - 1, 0.8)}
                height={Math.max(to - from, 0.8)}
                rx={1}
              >
                {hint(plot, label, i, value)}
              </rect>
              {numbers && (
                <text className="number" x={x + thick / 2} y={from - 4} textAnchor="middle">
                  {formatValue(value, plot.chart.percent)}
                </text>
              )}
            </g>
          );
        }),
      )}
      {below(plot, left + slot / 2, slot, height - 8)}
    </>,
  ];
}

function lying(plot: Plot): [number, ReactNode] {
  const rows = plot.labels.length;
  const widest = Math.max(...plot.labels.map(widthOf));
  const above = widest > BESIDE ? 16 : 0;
  const left = above ? 8 : widest + 8;
  const thick = plot.columns.length > 2 ? 9 : rows <= 12 ? 13 : 11;
  const slot = above + thick * plot.columns.length + (rows <= 12 ? 7 : 5);
  const told = (value: number | null) => (value === null ? "" : formatValue(value, plot.chart.percent));
  const numbers = thick > SMALL;
  const room = numbers ? Math.max(...plot.columns.flat().map((value) => widthOf(told(value)))) + 6 : 0;
  const right = Math.max(room, widthOf(plot.tickNames[plot.tickNames.length - 1]) / 2 + 2);
  const span = WIDTH - left - right;
  const top = 4;
  const height = top + slot * rows + 20;
  const x = (value: number) => left + span * along(plot.axis, value);
  const every = plot.tickNames.reduce((sum, name) => sum + widthOf(name) + 10, 0) > span ? 2 : 1;
  return [
    height,
    <>
      {plot.axis.ticks.map((tick, i) => (
        <g key={tick}>
          <line className={tick === 0 ? "zero" : "level"} x1={x(tick)} x2={x(tick)} y1={top} y2={height - 18} />
          {i % every === 0 && (
            <text className="tick" x={x(tick)} y={height - 5} textAnchor="middle">
              {plot.tickNames[i]}
            </text>
          )}
        </g>
      ))}
      {plot.labels.map((label, row) => {
        const start = top + slot * row + 3 + above;
        return (
          <g key={row}>
            {above ? (
              <Label text={label} x={left + 2} y={start - 4} anchor="start" room={WIDTH - left - 4} />
            ) : (
              <Label text={label} x={left - 6} y={start + (thick * plot.columns.length) / 2 + 4} anchor="end" room={left - 6} />
            )}
            {plot.columns.map((column, i) => {
              const value = column[row];
              if (value === null) return null;
              const [from, to] = [Math.min(x(value), x(0)), Math.max(x(value), x(0))];
              const y = start + thick * i;
              return (
                <g key={i}>
                  <rect className={`bar ${plot.colours[i]}`} x={from} y={y} width={Math.max(to - from, 0.8)} height={thick - 1} rx={1}>
                    {hint(plot, label, i, value)}
                  </rect>
                  {numbers && (
                    <text className="number" x={to + 4} y={y + thick - 3.2}>
                      {told(value)}
                    </text>
                  )}
                </g>
              );
            })}
          </g>
        );
      })}
    </>,
  ];
}

function line(plot: Plot): [number, ReactNode] {
  const [height, top, bottom] = [220, 10, 24];
  const left = Math.max(...plot.tickNames.map(widthOf)) + 8;
  const rows = plot.labels.length;
  const slot = (WIDTH - left - 12) / Math.max(1, rows - 1);
  const start = rows > 1 ? left + 4 : (WIDTH + left) / 2;
  const y = (value: number) => top + (height - top - bottom) * (1 - along(plot.axis, value));
  return [
    height,
    <>
      {levels(plot, left, y)}
      {plot.columns.map((column, i) => (
        <g key={i}>
          {stretches(column).map((stretch) => (
            <polyline
              key={stretch[0][0]}
              className={`stroke ${plot.colours[i]}`}
              points={stretch.map(([row, value]) => `${(start + slot * row).toFixed(1)},${y(value).toFixed(1)}`).join(" ")}
            />
          ))}
          {column.map((value, row) =>
            value === null ? null : (
              <circle
                key={row}
                className={`mark-dot ${plot.colours[i]}${rows > 40 ? " unseen" : ""}`}
                cx={start + slot * row}
                cy={y(value)}
                r={2.6}
              >
                {hint(plot, plot.labels[row], i, value)}
              </circle>
            ),
          )}
        </g>
      ))}
      {below(plot, start, slot, height - 8)}
    </>,
  ];
}

/** The parts of a line that have values, as pairs of row and value. */
function stretches(column: (number | null)[]): [number, number][][] {
  const found: [number, number][][] = [[]];
  column.forEach((value, row) => {
    if (value === null) found.push([]);
    else found[found.length - 1].push([row, value]);
  });
  return found.filter((stretch) => stretch.length > 1);
}

function levels(plot: Plot, left: number, y: (value: number) => number): ReactNode {
  return plot.axis.ticks.map((tick, i) => (
    <g key={tick}>
      <line className={tick === 0 ? "zero" : "level"} x1={left} x2={WIDTH} y1={y(tick)} y2={y(tick)} />
      <text className="tick" x={left - 6} y={y(tick) + 4} textAnchor="end">
        {plot.tickNames[i]}
      </text>
    </g>
  ));
}

/** As many labels as fit side by side: all, or every second, every third, and so on. */
function below(plot: Plot, start: number, slot: number, y: number): ReactNode {
  const widest = Math.min(90, Math.max(...plot.labels.map(widthOf)));
  const every = Math.max(1, Math.ceil((widest + 6) / slot));
  return plot.labels.map((label, row) => {
    if (row % every) return null;
    const half = Math.min(widest, widthOf(label)) / 2;
    const x = Math.min(Math.max(start + slot * row, half), WIDTH - half);
    return <Label key={row} text={label} x={x} y={y} anchor="middle" room={widest} />;
  });
}

function Label({ text, x, y, anchor, room }: { text: string; x: number; y: number; anchor: "start" | "middle" | "end"; room: number }) {
  const cut = shortened(text, room);
  return (
    <text x={x} y={y} textAnchor={anchor}>
      {cut !== text && <title>{text}</title>}
      {cut}
    </text>
  );
}

function hint(plot: Plot, label: string, series: number, value: number): ReactNode {
  const named = plot.columns.length > 1 ? `${plot.chart.series[series].name}: ` : "";
  return <title>{`${label}: ${named}${formatValue(value, plot.chart.percent)}`}</title>;
}

const drawable = (value: number | null): number | null =>
  value === null || !Number.isFinite(value) ? null : Math.max(Math.min(value, 1e300), -1e300);

/** Whether bars stand: labels are few and short, or run on like hours, so that some can be left out. */
function standsUpright(labels: string[]): boolean {
  const widest = Math.max(...labels.map(widthOf));
  if (labels.length <= 12 && widest + 4 <= (WIDTH - 50) / labels.length) return true;
  const keys = labels.map(orderOf);
  const rising = keys.every((key, i) => key !== null && (i === 0 || isBefore(keys[i - 1] ?? [], key)));
  return rising && widest <= 60;
}

/** The numbers of a label like "07:00", "0-10 %" or "≥ 50"; nothing if it has words. */
function orderOf(label: string): number[] | null {
  if (/[^\d\s.,:%<>≤≥=+\-–h]/.test(label.replace(" to ", "-"))) return null;
  const found = label.replace(/,/g, "").match(/\d+(?:\.\d+)?/g);
  return found ? found.map(Number) : null;
}

function isBefore(one: number[], other: number[]): boolean {
  for (let i = 0; i < Math.max(one.length, other.length); i++) {
    if ((one[i] ?? -1) !== (other[i] ?? -1)) return (one[i] ?? -1) < (other[i] ?? -1);
  }
  return false;
}
