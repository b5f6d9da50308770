import type { AttackResult, Publication } from "../../api";
import { ChartView, overlay } from "../../charts/ChartView";
import { Flow } from "../../parts/Fold";
import { riskRows } from "../../results";
import { texts } from "../../texts";
import { formatValue, isShare, words } from "../../words";

/** Every attack in a line or a few: what it learns from the raw data and from what was made. */
export function RiskTable({ result, after }: { result: Publication; after: string }) {
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
        {result.attacks.flatMap(({ raw, published }, i) =>
          riskRows(raw, published).map((row, j, all) => (
            <tr key={`${i}.${j}`}>
              <th scope="row">
                {j === 0 && (
                  <>
                    <strong>{words(raw.name)}</strong>
                    <span className="small quiet">{raw.adversary}</span>
                  </>
                )}
                {(all.length > 1 || !row.worst) && <span className="small">{row.what}</span>}
              </th>
              {[0, 1].map((side) => (
                <td key={side} data-label={heads[side]}>
                  <strong>{side ? row.published : row.raw}</strong>
                  <Bar share={row.shares[side]} kind={side ? "after" : "before"} />
                  {row.worst && <span className="small quiet">{texts.result.worst(row.worst[side])}</span>}
                </td>
              ))}
              <td data-label={texts.result.above}>
                {row.above ? (
                  <>
                    <strong>{row.above.published}</strong>
                    <span className="small quiet">{texts.result.aboveBound(row.above.bound, row.above.raw)}</span>
                  </>
                ) : (
                  "–"
                )}
              </td>
            </tr>
          )),
        )}
      </tbody>
    </table>
  );
}

function Bar({ share, kind }: { share: number | null; kind: string }) {
  if (share === null) return null;
  return (
    <span className="track" aria-hidden="true">
      <span className={`meter ${kind}`} style={{ width: `${Math.round(share * 100)}%` }} />
    </span>
  );
}

/** One attack with all of its numbers and charts. */
export function AttackDetails({ raw, published, after }: { raw: AttackResult; published: AttackResult; after: string }) {
  const charts = raw.charts.map((chart) => {
    const partner = published.charts.find((one) => one.title === chart.title);
    return partner ? overlay(chart, partner, [texts.rawData, after]) : chart;
  });
  const names = [...new Set([...Object.keys(raw.measured), ...Object.keys(published.measured)])].filter(
    (name) => !/_(threshold|low|high)$/.test(name) && (raw.measured[name] ?? published.measured[name] ?? null) !== null,
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
            {names.map((name) => {
              const pair = [raw.measured[name] ?? null, published.measured[name] ?? null];
              const percent = isShare(name, ...pair);
              return (
                <tr key={name}>
                  <th scope="row">{words(name)}</th>
                  {pair.map((value, i) => (
                    <td key={i}>{formatValue(value, percent)}</td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </Flow>
    </>
  );
}
