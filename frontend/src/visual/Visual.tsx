/** Charts and maps in the page: the same layer as in the report, with the numbers of each as a table. */
import { type ReactNode, useEffect, useRef, useState } from "preact/compat";
import type { Spot } from "./charts";
import { formatValue } from "./format";
import type { ChartData, MapData, RiskRow, StageData } from "./results";
import { texts } from "./texts";

const COLOURS = ["one", "two", "three", "four", "five", "six"];

type Layer = typeof import("./layer");

/** The libraries that draw are loaded when the first chart is looked at. */
const load = (): Promise<Layer> => import("./layer");

/** A place that something is put into, and removed from when it is drawn anew or gone. */
function Drawn({ of, put }: { of: unknown; put: (layer: Layer, target: HTMLElement) => () => void }) {
  const place = useRef<HTMLDivElement>(null);
  // biome-ignore lint: what is drawn depends on the data alone
  useEffect(() => {
    let [gone, remove]: [boolean, (() => void) | null] = [false, null];
    void load().then((layer) => {
      if (!gone && place.current) remove = put(layer, place.current);
    });
    return () => {
      gone = true;
      remove?.();
    };
  }, [of]);
  return <div ref={place} data-visual="page" />;
}

function Legend({ names }: { names: string[] }) {
  if (names.length < 2) return null;
  const turned = names.length === 2 && /^(published|rejected|after)/i.test(names[0]);
  return (
    <ul className="visual-legend">
      {names.map((name, i) => (
        <li key={name}>
          <span className={COLOURS[(turned ? 1 - i : i) % COLOURS.length]} />
          {name}
        </li>
      ))}
    </ul>
  );
}

/** The numbers behind a figure; the table is made when it is looked at. */
export function NumbersFold({ title, columns, rows }: { title: string; columns: string[]; rows: [string, string[]][] }) {
  const [open, setOpen] = useState(false);
  return (
    <details className="data" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{texts.numbers}</summary>
      {open && (
        // biome-ignore lint: a long table scrolls, and keys must reach it
        <div className="scroll" tabIndex={0} role="group" aria-label={`${title}: ${texts.numbers}`}>
          <table className="numbers small-table">
            <thead>
              <tr>
                <th scope="col">{title}</th>
                {columns.map((name) => (
                  <th scope="col" key={name}>
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(([label, values], i) => (
                <tr key={i}>
                  <th scope="row" dir="auto">
                    {label}
                  </th>
                  {values.map((value, j) => (
                    <td key={j}>{value}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}

function Figure({ title, children }: { title: string; children: ReactNode }) {
  return (
    <figure className="chart">
      <figcaption>{title}</figcaption>
      {children}
    </figure>
  );
}

/** A chart with its finding, its legend and its numbers. */
export function ChartView({ chart }: { chart: ChartData }) {
  const empty = !chart.labels.length || chart.series.every((series) => series.values.every((value) => value === null));
  const names = chart.series.map((series) => series.name);
  if (empty) {
    return (
      <Figure title={chart.title}>
        <p className="empty">{texts.nothing}</p>
      </Figure>
    );
  }
  return (
    <Figure title={chart.finding}>
      <Legend names={names} />
      <Drawn of={chart} put={(layer, target) => (chart.kind === "map" ? layer.mountMap(target, layer.mapOfChart(chart)) : layer.mount(target, (width) => layer.drawChart(chart, width)))} />
      {chart.kind === "bars" && chart.scale === "names" && chart.labels.length > 30 && <p className="axis">{texts.more2(30, chart.labels.length)}</p>}
      {(chart.kind === "map" || chart.x_label.includes(";")) && <p className="axis">{chart.x_label}</p>}
      <NumbersFold title={chart.title} columns={names} rows={chart.labels.map((label, i) => [label, chart.series.map((series) => formatValue(series.values[i], chart.percent) + texts.people(series.people?.[i] ?? null))])} />
    </Figure>
  );
}

/** A map with its finding; its table has what is counted most. */
export function MapView({ data }: { data: MapData }) {
  const { marks } = data;
  const order = marks ? marks.x.map((_, i) => i).sort((a, b) => Math.max(marks.raw[b] ?? 0, marks.published[b] ?? 0) - Math.max(marks.raw[a] ?? 0, marks.published[a] ?? 0)) : [];
  return (
    <Figure title={data.finding || data.title}>
      <Drawn of={data} put={(layer, target) => layer.mountMap(target, data)} />
      {data.below && <p className="axis">{data.below}</p>}
      {marks && (
        <NumbersFold
          title={data.title}
          columns={[...data.names]}
          rows={order.slice(0, 50).map((i) => [marks.labels[i] ?? `${texts.cell} ${marks.x[i]}, ${marks.y[i]}`, [marks.raw[i], marks.published[i]].map((value, side) => tellMark(data, value, side, i))])}
        />
      )}
    </Figure>
  );
}

function tellMark({ marks, percent }: MapData, value: number | null, side: number, i: number): string {
  if (!marks) return "";
  if (value === null) return (marks.withheld ?? [true, false])[side] ? texts.withheld : (marks.missing ?? texts.none);
  return formatValue(value, percent) + texts.people((side ? marks.published_people : marks.raw_people)[i]);
}

/** What attackers achieve before and after. */
export function RiskChart({ rows, names }: { rows: RiskRow[]; names: [string, string] }) {
  const one = rows.every((row) => row.published === null);
  return (
    <>
      <ul className="visual-legend">
        <li>
          <span className="one" />
          {names[0]}
        </li>
        {!one && (
          <>
            <li>
              <span className="two" />
              {names[1]}
            </li>
            <li>
              <span className="tick" />
              {texts.worst}
            </li>
          </>
        )}
        {rows.some((row) => row.limit !== null) && (
          <li>
            <span className="dash" />
            {texts.limits}
          </li>
        )}
      </ul>
      <Drawn of={rows} put={(layer, target) => layer.mount(target, (width) => layer.drawRisks(rows, names, width))} />
    </>
  );
}

export function FlowView({ stages }: { stages: StageData[] }) {
  if (stages.length < 2) return null;
  const told = (value: number | null) => (value === null ? "–" : value.toLocaleString("en-US"));
  return (
    <Figure title={texts.flow}>
      <Drawn of={stages} put={(layer, target) => layer.mount(target, (width) => layer.drawFlow(stages, width))} />
      <NumbersFold title={texts.flow} columns={["rows", "trips", "people"]} rows={stages.map((stage) => [stage.name, [`${told(stage.rows)} ${stage.row_word}`, told(stage.trips), told(stage.people)]])} />
    </Figure>
  );
}

export function FrontierView(props: { spots: Spot[]; raw: number | null; limit: number | null; riskLabel: string; lossLabel: string; percent: boolean }) {
  const { spots, ...options } = props;
  return <Drawn of={JSON.stringify(props)} put={(layer, target) => layer.mount(target, (width) => layer.drawFrontier(spots, options, width))} />;
}
