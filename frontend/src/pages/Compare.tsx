import type { Comparison, Run } from "../api";
import { api, isActive } from "../api";
import { useAsked, useRuns } from "../hooks";
import { Failure, Head, Loading, Section } from "../parts/Parts";
import { linkTo, replaceBy } from "../route";
import { texts } from "../texts";
import { FrontierView } from "../visual/Visual";
import { formatDate, formatPercent, formatValue, valueText } from "../words";

export function Compare({ chosen }: { chosen: string[] }) {
  const runs = useRuns();
  const published = (runs.value ?? []).filter((run) => run.what === "publish" && run.state === "done");
  // Runs that have not ended are waited for: each that ends is put in.
  const waiting = (runs.value ?? []).filter((run) => chosen.includes(run.id) && isActive(run.state)).map((run) => run.id);
  const ended = runs.value ? chosen.filter((id) => !waiting.includes(id)) : [];
  const ready = ended.length >= 2;
  const compared = useAsked<Comparison | null>(`compare ${ended.join()}`, async () => (ready ? api.compare(ended) : null));
  const toggle = (id: string) => replaceBy("compare", ...(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]));
  return (
    <>
      <Head title={texts.compare.title} lead={texts.compare.lead} />
      {runs.error && <Failure message={runs.error} again={runs.again} />}
      {waiting.length > 0 && (
        <p className="calm" role="status" data-testid="compare-waiting">
          {texts.compare.waiting(waiting.length, chosen.length)}
        </p>
      )}
      {ready && compared.error && <Failure message={compared.error} />}
      {ready && compared.loading && !compared.value && <Loading />}
      {ready && compared.value && <Compared comparison={compared.value} runs={published} />}
      {runs.value && (
        <Section title={texts.compare.choose} lead={published.length < 2 ? texts.compare.fewer : ready ? undefined : texts.compare.few}>
          <div className="checks column">
            {published.map((run) => (
              <label key={run.id} className="check">
                <input type="checkbox" checked={chosen.includes(run.id)} onChange={() => toggle(run.id)} />
                <span>
                  {run.title || texts.runs.untitled}{" "}
                  <span className="quiet small">
                    {run.file} · {run.method} · {formatDate(run.created)}
                  </span>
                </span>
              </label>
            ))}
          </div>
        </Section>
      )}
    </>
  );
}

/** The settings of a run in which it differs from others with the same method. */
function differing(comparison: Comparison, point: Comparison["points"][number]): string[] {
  const alike = comparison.points.filter((other) => other.method === point.method);
  return Object.entries(point.parameters)
    .filter(([name, value]) => alike.some((other) => valueText(other.parameters[name]) !== valueText(value)))
    .map(([name, value]) => `${name} ${valueText(value)}`);
}

function Compared({ comparison, runs }: { comparison: Comparison; runs: Run[] }) {
  const percent = comparison.loss.percent ?? true;
  return (
    <>
      {comparison.points.length > 0 && (
        <Section title={texts.compare.caption}>
          <figure className="chart frontier" data-testid="frontier">
            <FrontierView
              spots={comparison.points.map((point, i) => ({
                name: String(i + 1),
                title: [point.title || texts.runs.untitled, point.method, ...differing(comparison, point)].join(", "),
                risk: point.risk,
                loss: point.loss,
                dominated: !point.on_frontier,
              }))}
              raw={comparison.points.reduce<number | null>((most, point) => (point.risk_raw === null ? most : Math.max(most ?? 0, point.risk_raw)), null)}
              limit={comparison.limit}
              riskLabel={comparison.risk.label}
              lossLabel={comparison.loss.label}
              percent={percent}
            />
          </figure>
          <table className="numbers stack compare-table">
            <thead>
              <tr>
                <th scope="col">{texts.compare.number}</th>
                <th scope="col">{texts.compare.run}</th>
                <th scope="col">{texts.compare.riskColumn}</th>
                <th scope="col">{texts.compare.lossColumn}</th>
              </tr>
            </thead>
            <tbody>
              {comparison.points.map((point, i) => (
                <tr key={point.id} className={point.on_frontier ? "" : "beaten"}>
                  <th scope="row">{i + 1}</th>
                  <td className="text-cell">
                    <a href={linkTo("run", point.id)}>{point.title || texts.runs.untitled}</a>
                    <span className="small quiet">
                      {[point.method, ...differing(comparison, point)].join(", ")}
                    </span>
                    {point.head && (
                      <span className="small" data-testid="compare-head">
                        <strong>{point.head.label}</strong> {point.head.risk}
                        {point.head.loss && `; ${point.head.loss}`}
                      </span>
                    )}
                    <span className="small">{point.on_frontier ? texts.compare.best : texts.compare.beaten}</span>
                  </td>
                  <td data-label={texts.compare.riskColumn}>{formatPercent(point.risk)}</td>
                  <td data-label={texts.compare.lossColumn}>{formatValue(point.loss, percent)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Section>
      )}
      {comparison.refused.length > 0 && (
        <div className="warning">
          <h3>{texts.compare.refused}</h3>
          <ul>
            {comparison.refused.map(({ id, why }) => (
              <li key={id}>
                {runs.find((run) => run.id === id)?.title || texts.runs.untitled}: {why}
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}
