import { Flow } from "../../parts/Fold";
import { texts } from "../../texts";
import type { AttackData, ChartData, RiskRow } from "../../visual/results";
import { ChartView } from "../../visual/Visual";

/** Every attack in a line or a few: what it learns from the raw data and from what was made. */
export function RiskTable({ rows, after }: { rows: RiskRow[]; after: string }) {
  const heads = [texts.rawData, after].map((name) => name.charAt(0).toUpperCase() + name.slice(1));
  return (
    <table className="numbers summary stack">
      <thead>
        <tr>
          <th scope="col">{texts.result.attack}</th>
          <th scope="col">{heads[0]}</th>
          <th scope="col">{heads[1]}</th>
          <th scope="col">{texts.result.above}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row, i) => (
          <tr key={i}>
            <th scope="row">
              <strong>{row.name}</strong>
              <span className="small quiet">{row.adversary}</span>
              {row.what && <span className="small">{row.what}</span>}
            </th>
            {[
              [row.raw, row.raw_worst],
              [row.published, row.published_worst],
            ].map(([mean, worst], side) => (
              <td key={side} data-label={heads[side]}>
                <strong>{mean?.text ?? "–"}</strong>
                {mean?.interval_text && <span className="small quiet">{mean.interval_text}</span>}
                {worst && <span className="small quiet">{texts.result.worst(worst.text)}</span>}
              </td>
            ))}
            <td data-label={texts.result.above}>
              {row.published_above ? (
                <>
                  <strong>{row.published_above.text}</strong>
                  <span className="small quiet">{texts.result.aboveBound(row.limit_text, row.raw_above?.text ?? "–")}</span>
                </>
              ) : (
                "–"
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** One attack with all of its numbers and charts. */
export function AttackDetails({ raw, published, after }: { raw: AttackData; published: AttackData; after: string }) {
  const charts = raw.charts.map((chart) => {
    const partner = published.charts.find((one) => one.title === chart.title);
    return partner ? overlay(chart, partner, [texts.rawData, after]) : chart;
  });
  const names = [...new Set([...Object.keys(raw.numbers), ...Object.keys(published.numbers)])].filter(
    (name) => (raw.numbers[name]?.value ?? published.numbers[name]?.value ?? null) !== null,
  );
  return (
    <>
      <p className="quiet">{raw.sampled ? texts.risk.sampled(raw.victims) : texts.risk.exact(raw.victims)}</p>
      <Flow>
        {charts.map((chart) => (
          <ChartView key={chart.title} chart={chart} />
        ))}
        <table className="numbers small-table">
          <thead>
            <tr>
              <th scope="col">{texts.result.measure}</th>
              <th scope="col">{texts.rawData}</th>
              <th scope="col">{after}</th>
            </tr>
          </thead>
          <tbody>
            {names.map((name) => (
              <tr key={name}>
                <th scope="row">{(raw.numbers[name] ?? published.numbers[name]).label}</th>
                <td>{raw.numbers[name]?.text ?? "–"}</td>
                <td>{published.numbers[name]?.text ?? "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Flow>
    </>
  );
}

/** One chart that shows two charts of the same thing side by side, label by label. */
export function overlay(raw: ChartData, published: ChartData, names: [string, string]): ChartData {
  const labels = [...raw.labels];
  const at = new Map([raw, published].flatMap((chart) => chart.labels.map((label, i) => [label, chart.at[i]] as [string, number | undefined])));
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
  const places = labels.map((label) => at.get(label));
  const known = raw.scale === published.scale && raw.scale !== "names" && places.every((one, i) => one !== undefined && (i === 0 || one > (places[i - 1] ?? one)));
  return { ...raw, finding: raw.title, labels, series, scale: known ? raw.scale : "names", at: known ? (places as number[]) : [] };
}
