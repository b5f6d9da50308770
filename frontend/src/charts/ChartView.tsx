/** A chart as a figure: caption, legend, drawing, names of the axes and, folded away, its numbers as a table. */
import { useId, useState } from "react";
import type { Chart } from "../api";
import { texts } from "../texts";
import { formatValue } from "../words";
import { coloursOf } from "./axis";
import { Bars, isFlat, topOf } from "./Bars";
import { LinesMap, Panels } from "./Maps";

const isMap = (chart: Chart): boolean => chart.kind === "cells" || chart.kind === "roads";

export function ChartView({ chart }: { chart: Chart }) {
  const empty = chart.series.every((series) => series.values.every((value) => value === null)) || !chart.labels.length;
  const colours = coloursOf(chart.series.map((series) => series.name));
  return (
    <figure className="chart">
      <figcaption>{chart.title}</figcaption>
      {empty ? (
        <p className="empty">{texts.charts.nothing}</p>
      ) : isMap(chart) ? (
        <Panels chart={chart} />
      ) : chart.kind === "map" ? (
        <LinesMap chart={chart} />
      ) : (
        <>
          {chart.series.length > 1 && (
            <ul className="legend">
              {chart.series.map((series, i) => (
                <li key={series.name}>
                  <span className={`swatch ${colours[i]}`} />
                  {series.name}
                </li>
              ))}
            </ul>
          )}
          {isFlat(chart) ? null : <AxisName text={chart.y_label} where="above" />}
          <Bars chart={chart} />
        </>
      )}
      <AxisName text={chart.x_label} where={isMap(chart) ? "" : "below"} />
      {!empty && <Numbers chart={chart} />}
    </figure>
  );
}

/** The same thing before and after, beside each other and on one scale: a map, or bars where there is no map. */
export function BeforeAfter({ chart }: { chart: Chart }) {
  const ids = ["map-before", "map-after"];
  const top = topOf(chart);
  return (
    <figure className="chart">
      <figcaption>{chart.title}</figcaption>
      {isMap(chart) ? (
        <Panels chart={chart} testIds={ids} />
      ) : (
        <div className="panels">
          {chart.series.slice(0, 2).map((series, i) => (
            <div className="panel plain" key={series.name} data-testid={ids[i]}>
              <p className="axis above">{series.name}</p>
              <Bars
                chart={{ ...chart, series: [series] }}
                top={top}
                colours={[i === 0 ? "before" : "after"]}
                spoken={texts.charts.spoken(`${chart.title}, ${series.name}`, chart.kind, chart.labels.length, [])}
              />
            </div>
          ))}
        </div>
      )}
      <AxisName text={chart.x_label} where="" />
      <Numbers chart={chart} />
    </figure>
  );
}

/** One chart that shows two charts of the same thing side by side, label by label. */
export function overlay(raw: Chart, published: Chart, names: [string, string]): Chart {
  const labels = [...raw.labels];
  let place = 0;
  for (const label of published.labels) {
    const found = labels.indexOf(label);
    if (found >= 0) place = found + 1;
    else labels.splice(place++, 0, label);
  }
  const series = [];
  for (let i = 0; i < Math.max(raw.series.length, published.series.length); i++) {
    for (const [source, name] of [
      [raw, names[0]],
      [published, names[1]],
    ] as const) {
      const one = source.series[i];
      if (!one) continue;
      const valueOf = new Map(source.labels.map((label, row) => [label, one.values[row] ?? null]));
      series.push({
        name: source.series.length === 1 ? name : `${name}: ${one.name}`,
        values: labels.map((label) => valueOf.get(label) ?? null),
      });
    }
  }
  return { ...raw, labels, series };
}

function AxisName({ text, where }: { text: string; where: string }) {
  return text ? <p className={`axis ${where}`}>{text}</p> : null;
}

function Numbers({ chart }: { chart: Chart }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <>
      <button type="button" className="quiet-button" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
        {open ? texts.charts.hide : texts.charts.show}
      </button>
      <div id={id} hidden={!open} className="scroll" tabIndex={open ? 0 : undefined} role="region" aria-label={chart.title}>
        {open && (
          <table className="numbers small-table">
            <thead>
              <tr>
                <th scope="col">{isMap(chart) || chart.kind === "map" ? texts.charts.place : chart.x_label || texts.charts.label}</th>
                {chart.series.map((series) => (
                  <th scope="col" key={series.name}>
                    {series.name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {chart.labels.map((label, row) => (
                <tr key={row}>
                  <th scope="row" dir="auto">
                    {label}
                  </th>
                  {chart.series.map((series) => (
                    <td key={series.name}>{formatValue(series.values[row], chart.percent)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
    </>
  );
}
