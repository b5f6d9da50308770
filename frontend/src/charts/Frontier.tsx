/** Risk over loss of several runs; those that another one beats are grey, the others joined by a line. */
import type { Comparison } from "../api";
import { texts } from "../texts";
import { formatPercent, formatValue } from "../words";
import { along, makeAxis, tickName, widthOf } from "./axis";

const WIDTH = 440;
const HEIGHT = 290;
const [TOP, BOTTOM, RIGHT] = [14, 30, 18];

type Spot = Comparison["points"][number];

export function Frontier({ comparison }: { comparison: Comparison }) {
  const { points } = comparison;
  const percent = comparison.loss.percent ?? points.every((point) => Math.abs(point.loss) <= 1);
  const losses = points.map((point) => point.loss);
  const across = makeAxis(Math.min(0, ...losses), Math.max(1e-6, ...losses), false);
  const up = makeAxis(0, Math.max(1e-6, ...points.map((point) => point.risk)), false);
  const names = up.ticks.map((tick) => tickName(tick, up.step, true));
  const left = Math.max(...names.map(widthOf)) + 10;
  const x = (loss: number) => left + (WIDTH - RIGHT - left) * along(across, loss);
  const y = (risk: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - along(up, risk));
  const best = points.filter((point) => point.on_frontier).sort((a, b) => a.loss - b.loss);
  const corners = best.flatMap((spot, i) => [
    [spot.loss, spot.risk],
    [(best[i + 1] ?? spot).loss, spot.risk],
  ]);
  return (
    <figure className="chart frontier" data-testid="compare-plot">
      <p className="axis above">{texts.compare.riskAxis(comparison.risk.label)}</p>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={texts.compare.spoken(points.length)}>
        {up.ticks.map((tick, i) => (
          <g key={`up${tick}`}>
            <line className={tick === 0 ? "zero" : "level"} x1={left} x2={WIDTH - RIGHT} y1={y(tick)} y2={y(tick)} />
            <text className="tick" x={left - 6} y={y(tick) + 4} textAnchor="end">
              {names[i]}
            </text>
          </g>
        ))}
        {across.ticks.map((tick) => (
          <g key={`across${tick}`}>
            <line className={tick === 0 ? "zero" : "level"} x1={x(tick)} x2={x(tick)} y1={TOP} y2={HEIGHT - BOTTOM} />
            <text className="tick" x={x(tick)} y={HEIGHT - 12} textAnchor="middle">
              {tickName(tick, across.step, percent)}
            </text>
          </g>
        ))}
        {best.length > 1 && (
          <polyline className="front" points={corners.map(([loss, risk]) => `${x(loss).toFixed(1)},${y(risk).toFixed(1)}`).join(" ")} />
        )}
        {points.map((point, i) => (
          <g key={point.id}>
            <circle className={`spot ${point.on_frontier ? "best" : "beaten"}`} cx={x(point.loss)} cy={y(point.risk)} r={9}>
              <title>{`${i + 1}: ${point.title}; ${texts.compare.told(formatPercent(point.risk), formatValue(point.loss, percent))}`}</title>
            </circle>
            <text className={`spot-name ${point.on_frontier ? "best" : "beaten"}`} x={x(point.loss)} y={y(point.risk) + 4} textAnchor="middle">
              {nameOf(points, i, x, y)}
            </text>
          </g>
        ))}
      </svg>
      <p className="axis below">{texts.compare.lossAxis(comparison.loss.label)}</p>
    </figure>
  );
}

/** The number of a run; runs at one place share their mark, so the last one drawn tells all of them. */
function nameOf(points: Spot[], i: number, x: (loss: number) => number, y: (risk: number) => number): string {
  const near = points.flatMap((other, j) =>
    Math.hypot(x(other.loss) - x(points[i].loss), y(other.risk) - y(points[i].risk)) < 10 ? [j] : [],
  );
  if (near.length === 1) return String(i + 1);
  return near[near.length - 1] === i ? near.map((j) => j + 1).join(",") : "";
}
