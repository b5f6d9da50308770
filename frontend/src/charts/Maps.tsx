/** Maps without a background: cells and roads in panels side by side, and lines coloured by class. */
import type { Chart } from "../api";
import { texts } from "../texts";
import { formatValue, formatApart } from "../words";

const WIDTH = 400;
const TALLEST = 420;
const MARGIN = 6;
const CLASSES: [number, number][] = [
  [0.03, 0.12],
  [0.1, 0.28],
  [0.25, 0.5],
  [0.5, 0.75],
  [Number.POSITIVE_INFINITY, 1],
];
const ERRORS: [number, string][] = [
  [0.05, "one"],
  [0.2, "two"],
  [0.5, "three"],
  [Number.POSITIVE_INFINITY, "four"],
];

type Line = [number, number, number, number];

/** Puts metres, y to the north, into a drawing; all panels of a chart share it. */
function frameOf(lines: Line[]): { height: number; place: (line: Line) => Line } {
  const xs = lines.flatMap((line) => [line[0], line[2]]);
  const ys = lines.flatMap((line) => [line[1], line[3]]);
  const least = (values: number[]) => values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const most = (values: number[]) => values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const [xLow, yLow] = [least(xs), least(ys)];
  const wide = Math.max(most(xs) - xLow, 1e-9);
  const tall = Math.max(most(ys) - yLow, 1e-9);
  const scale = Math.min((WIDTH - 2 * MARGIN) / wide, (TALLEST - 2 * MARGIN) / tall);
  const height = Math.max(tall * scale + 2 * MARGIN, WIDTH / 4);
  const left = (WIDTH - wide * scale) / 2;
  const bottom = (height + tall * scale) / 2;
  return {
    height,
    place: ([x1, y1, x2, y2]) => [
      left + (x1 - xLow) * scale,
      bottom - (y1 - yLow) * scale,
      left + (x2 - xLow) * scale,
      bottom - (y2 - yLow) * scale,
    ],
  };
}

const isDrawable = (value: number | null, line: Line | undefined): value is number =>
  value !== null && Number.isFinite(value) && line !== undefined && line.every(Number.isFinite);

/** One panel per series, all on the same scale. */
export function Panels({ chart, testIds }: { chart: Chart; testIds?: string[] }) {
  const shown = chart.series.map((series) =>
    chart.lines.flatMap((at, i) => {
      const value = series.values[i] ?? null;
      return isDrawable(value, at) && value > 0 ? [{ label: chart.labels[i], value, at }] : [];
    }),
  );
  const all = shown.flat();
  if (!all.length) return <p className="empty">{texts.charts.nothing}</p>;
  const largest = all.reduce((most, shape) => Math.max(most, shape.value), 0);
  const { height, place } = frameOf(all.map((shape) => shape.at));
  const strength = (value: number) => CLASSES.find(([bound]) => value <= bound * largest)?.[1] ?? 1;
  const borders = formatApart(
    CLASSES.map(([bound]) => (bound === Number.POSITIVE_INFINITY ? largest : bound * largest)),
    chart.percent,
  );
  return (
    <>
      <ul className="legend">
        {CLASSES.map(([bound, opacity], i) => (
          <li key={bound}>
            <span className="swatch ink" style={{ opacity }} />
            {texts.charts.upTo(borders[i])}
          </li>
        ))}
      </ul>
      <div className={`panels${chart.series.length > 1 ? "" : " alone"}`}>
        {chart.series.map((series, i) => (
          <div className="panel" key={series.name} data-testid={testIds?.[i]}>
            <p className="axis above">{series.name}</p>
            <svg
              className={["before", "after", "third"][i] ?? "third"}
              viewBox={`0 0 ${WIDTH} ${Math.round(height)}`}
              role="img"
              aria-label={texts.charts.panel(chart.title, series.name, shown[i].length, chart.kind)}
            >
              {shown[i].map(({ label, value, at }, j) => {
                const [x1, y1, x2, y2] = place(at);
                const title = <title>{`${label}: ${formatValue(value, chart.percent)}`}</title>;
                const opacity = strength(value);
                return chart.kind === "roads" ? (
                  <line className="road" key={j} x1={x1} y1={y1} x2={x2} y2={y2} strokeWidth={0.6 + 2.6 * opacity} strokeOpacity={Math.max(0.25, opacity)}>
                    {title}
                  </line>
                ) : (
                  <rect className="map-cell" key={j} x={Math.min(x1, x2)} y={Math.min(y1, y2)} width={Math.abs(x2 - x1)} height={Math.abs(y2 - y1)} fillOpacity={opacity}>
                    {title}
                  </rect>
                );
              })}
            </svg>
          </div>
        ))}
      </div>
    </>
  );
}

/** Lines coloured by the class of a share, such as the error of a road. */
export function LinesMap({ chart }: { chart: Chart }) {
  const values = chart.series[0]?.values ?? [];
  const shown = chart.lines.flatMap((at, i) => {
    const value = values[i] ?? null;
    return isDrawable(value, at) ? [{ label: chart.labels[i], value, at }] : [];
  });
  if (!shown.length) return <p className="empty">{texts.charts.nothing}</p>;
  const classOf = (value: number) => ERRORS.findIndex(([bound]) => value <= bound);
  const { height, place } = frameOf(shown.map((shape) => shape.at));
  return (
    <>
      <ul className="legend">
        {ERRORS.map(([, name], i) => (
          <li key={name}>
            <span className={`swatch error-${name}`} />
            {texts.charts.errorClass(i, shown.filter((shape) => classOf(shape.value) === i).length)}
          </li>
        ))}
      </ul>
      <div className="panels alone">
        <div className="panel">
          <svg viewBox={`0 0 ${WIDTH} ${Math.round(height)}`} role="img" aria-label={texts.charts.lines(chart.title, shown.length)}>
            {shown.map(({ label, value, at }, i) => {
              const [x1, y1, x2, y2] = beside(place(at));
              return (
                <line className={`road error-${ERRORS[classOf(value)][1]}`} key={i} x1={x1} y1={y1} x2={x2} y2={y2} strokeWidth={1.5}>
                  <title>{`${label}: ${formatValue(value, chart.percent)}`}</title>
                </line>
              );
            })}
          </svg>
        </div>
      </div>
    </>
  );
}

/** A line moved to its right, so that two directions are two lines. */
function beside([x1, y1, x2, y2]: Line): Line {
  const length = Math.hypot(x2 - x1, y2 - y1);
  if (length === 0) return [x1, y1, x2, y2];
  const dx = (-(y2 - y1) / length) * 0.9;
  const dy = ((x2 - x1) / length) * 0.9;
  return [x1 + dx, y1 + dy, x2 + dx, y2 + dy];
}
