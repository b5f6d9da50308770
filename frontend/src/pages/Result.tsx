import { type ReactNode, useState } from "react";
import type { AttackResult, Publication, Score, WholeRun } from "../api";
import { BeforeAfter, ChartView, overlay } from "../charts/ChartView";
import { ClaimView, Head, Notes, Section } from "../parts/Parts";
import { linkTo } from "../route";
import { linesOf, type Mark, marksOf, riskRows } from "../results";
import { texts } from "../texts";
import { asNumber, formatNumber, formatPercent, formatSeconds, formatValue, isShare, sentence, valueText, words } from "../words";

export function Result({ run, result, change }: { run: WholeRun; result: Publication; change: () => void }) {
  const good = run.state === "done" && result.verdict.holds;
  const after = good ? texts.publishedData : texts.rejectedData;
  const where = result.views.find((chart) => chart.series.length === 2) ?? null;
  const views = result.views.filter((chart) => chart !== where);
  return (
    <>
      <Head title={run.title || texts.runs.untitled} lead={`${run.file} · ${run.method ?? ""}`} />
      <Band run={run} result={result} good={good} change={change} />
      {run.claim && (
        <Section title={texts.result.claim} lead={good ? undefined : texts.result.claimBroken}>
          <ClaimView claim={run.claim} />
        </Section>
      )}
      {result.views.length > 0 && (
        <Section title={texts.result.view} lead={texts.result.viewLead}>
          {where && (
            <div className="wide">
              <BeforeAfter chart={where} />
            </div>
          )}
          <div className="flow">
            {views.map((chart) => (
              <div className="cell" key={chart.title}>
                <ChartView chart={chart} />
              </div>
            ))}
          </div>
        </Section>
      )}
      <Section title={texts.result.risk} lead={texts.result.riskLead(after)}>
        <RiskTable result={result} after={after} />
        {result.attacks.map(({ raw, published }, i) => (
          <Fold key={i} title={words(raw.name)} about={raw.adversary}>
            <AttackDetails raw={raw} published={published} after={after} />
          </Fold>
        ))}
      </Section>
      <Section title={texts.result.loss} lead={texts.result.lossLead}>
        <LossTable scores={result.scores} />
        {result.scores.map((score) => (
          <Fold key={score.name} title={words(score.name)} about={formatValue(score.value, score.percent)}>
            <ScoreDetails score={score} />
          </Fold>
        ))}
      </Section>
      <Section title={texts.result.balance}>
        <Balance balance={result.balance} />
        <h3>{texts.result.notes}</h3>
        {result.notes.length ? <Notes notes={result.notes} /> : <p className="quiet">{texts.result.notesNone}</p>}
      </Section>
      <Section title={texts.result.judged}>
        <p className="quiet">{texts.result.counted[result.verdict.counted]}</p>
        <Judged result={result} />
        {result.verdict.not_judged.length > 0 && (
          <>
            <h3>{texts.result.notJudgedTitle}</h3>
            <Notes notes={result.verdict.not_judged} />
          </>
        )}
        {good && result.manifest_sha256 && (
          <p className="hash">
            {texts.result.hash} <code>{result.manifest_sha256}</code>
          </p>
        )}
        {result.verdict.witness && <Witness witness={result.verdict.witness} />}
      </Section>
      <Section title={texts.result.settings}>
        <table className="plain-table">
          <tbody>
            {Object.entries(result.parameters ?? {}).map(([name, value]) => (
              <tr key={name}>
                <th scope="row">
                  <code>{name}</code>
                </th>
                <td>{valueText(value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <Fold title={texts.result.timings} about={formatSeconds(Object.values(result.timings_s ?? {}).reduce((a, b) => a + b, 0))}>
          <table className="numbers small-table">
            <tbody>
              {Object.entries(result.timings_s ?? {}).map(([step, seconds]) => (
                <tr key={step}>
                  <th scope="row">{words(step)}</th>
                  <td>{formatSeconds(seconds)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Fold>
      </Section>
    </>
  );
}

function Band({ run, result, good, change }: { run: WholeRun; result: Publication; good: boolean; change: () => void }) {
  const at = `/api/runs/${encodeURIComponent(run.id)}`;
  const open = result.verdict.not_judged.length;
  return (
    <section className={`band ${good ? "good" : "bad"}`} data-testid="verdict" aria-label={good ? texts.result.good : texts.result.bad}>
      <div className="band-head">
        <svg className="sign" viewBox="0 0 40 40" aria-hidden="true">
          <circle cx="20" cy="20" r="19" />
          <path d={good ? "M11 21 L18 28 L30 13" : "M13 13 L27 27 M27 13 L13 27"} />
        </svg>
        <div>
          <p className="verdict">{good ? texts.result.good : texts.result.bad}</p>
          <p>{result.verdict.reason}</p>
          <p>{good ? texts.result.goodLead : texts.result.badLead}</p>
          {open > 0 && <p>{texts.result.notJudged(open)}</p>}
        </div>
      </div>
      <div className="marks">
        {marksOf(result).map((mark) => (
          <MarkCard key={mark.label} mark={mark} />
        ))}
      </div>
      <div className="downloads">
        {good && (
          <Download href={`${at}/public.zip`} id="download-zip" title={texts.result.zip} about={texts.result.zipAbout} main />
        )}
        <Download href={`${at}/report.html`} id="download-report" title={texts.result.report} about={texts.result.reportAbout} />
        <Download href={`${at}/recipe.toml`} id="download-recipe" title={texts.result.recipe} about={texts.result.recipeAbout} />
      </div>
      <div className="buttons">
        <button type="button" className={good ? "button on-band" : "button on-band strong"} onClick={change} data-testid="change-settings">
          {texts.result.tryOther}
        </button>
        <a className="button on-band" href={linkTo("method", run.file_id)}>
          {texts.result.tryMethod}
        </a>
        {good && (
          <a className="button on-band" href={linkTo("compare", run.id)}>
            {texts.result.compare}
          </a>
        )}
      </div>
    </section>
  );
}

function Download({ href, id, title, about, main }: { href: string; id: string; title: string; about: string; main?: boolean }) {
  return (
    <a className={`download${main ? " main" : ""}`} href={href} download data-testid={id}>
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <path d="M12 4 V15 M7 11 L12 16 L17 11 M5 20 H19" />
      </svg>
      <span>
        <strong>{title}</strong>
        <span className="download-about">{about}</span>
      </span>
    </a>
  );
}

function MarkCard({ mark }: { mark: Mark }) {
  return (
    <div className={`mark ${mark.state}`}>
      <p className="mark-label">{mark.label}</p>
      <p className="big">
        {mark.value} {mark.unit && <span className="unit">{mark.unit}</span>}
      </p>
      {mark.promised && (
        <p className="promised">
          {mark.promised}{" "}
          {mark.state !== "plain" && <span className="state">{mark.state === "kept" ? `✓ ${texts.result.kept}` : `✕ ${texts.result.broken}`}</span>}
        </p>
      )}
      <p className="mark-meaning">{mark.meaning}</p>
    </div>
  );
}

function RiskTable({ result, after }: { result: Publication; after: string }) {
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

function AttackDetails({ raw, published, after }: { raw: AttackResult; published: AttackResult; after: string }) {
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

function LossTable({ scores }: { scores: Score[] }) {
  return (
    <table className="numbers summary loss">
      <thead>
        <tr>
          <th scope="col">{texts.result.measure}</th>
          <th scope="col">{texts.result.value}</th>
        </tr>
      </thead>
      <tbody>
        {scores.map((score) => (
          <tr key={score.name}>
            <th scope="row">
              <strong>{words(score.name)}</strong>
              <span className="small quiet">{sentence(score.meaning)}</span>
            </th>
            <td>
              <strong>{formatValue(score.value, score.percent)}</strong>
              <span className="small quiet">{texts.result.better[score.better]}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function ScoreDetails({ score }: { score: Score }) {
  return (
    <Flow>
      {score.charts.map((chart) => (
        <ChartView key={chart.title} chart={chart} />
      ))}
      <table className="numbers small-table">
        <tbody>
          {Object.entries(score.measured)
            .filter(([, value]) => value !== null)
            .map(([name, value]) => (
              <tr key={name}>
                <th scope="row">{words(name)}</th>
                <td>{isShare(name, value) ? formatPercent(value) : formatNumber(value)}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </Flow>
  );
}

function Balance({ balance }: { balance: Publication["balance"] }) {
  const columns = Object.keys(texts.result.balanceColumns);
  return (
    <table className="numbers stack four">
      <thead>
        <tr>
          <th scope="col">{texts.result.what}</th>
          {columns.map((column) => (
            <th scope="col" key={column}>
              {texts.result.balanceColumns[column]}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {Object.entries(balance ?? {}).map(([what, row]) => (
          <tr key={what}>
            <th scope="row">{words(what)}</th>
            {columns.map((column) => (
              <td key={column} data-label={texts.result.balanceColumns[column]}>
                {formatNumber(row[column])}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Judged({ result }: { result: Publication }) {
  const { measured } = result.verdict;
  return (
    <table className="numbers small-table narrow">
      <tbody>
        {Object.entries(measured)
          .filter(([name]) => !(name.endsWith("_exact") && name.slice(0, -6) in measured))
          .map(([name, value]) => {
            const number = asNumber(value);
            const share = ["confidence", "max_share", "probability"].some((part) => name.includes(part));
            return (
              <tr key={name}>
                <th scope="row">{words(name)}</th>
                <td>{number === null ? valueText(value) : formatValue(number, share)}</td>
              </tr>
            );
          })}
      </tbody>
    </table>
  );
}

function Witness({ witness }: { witness: Record<string, unknown> }) {
  return (
    <details className="fold">
      <summary>{texts.result.witness}</summary>
      <p className="warning">{texts.result.witnessWarning}</p>
      <dl className="facts-list">
        {Object.entries(witness)
          .filter(([, value]) => value !== null)
          .map(([name, value]) => (
            <div key={name}>
              <dt>{words(name)}</dt>
              <dd dir="auto">{linesOf(value).join("; ")}</dd>
            </div>
          ))}
      </dl>
    </details>
  );
}

/** Details that are drawn only when they are looked at. */
function Fold({ title, about, children }: { title: string; about: string; children: ReactNode }) {
  const [open, setOpen] = useState(false);
  return (
    <details className="part" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {title} <span className="quiet">{about}</span>
      </summary>
      {open && <div className="part-body">{children}</div>}
    </details>
  );
}

function Flow({ children }: { children: ReactNode }) {
  const [first, ...rest] = (Array.isArray(children) ? children.flat() : [children]) as ReactNode[];
  // The table comes last; beside the first chart it leaves the least room empty.
  const parts = rest.length > 1 ? [first, rest[rest.length - 1], ...rest.slice(0, -1)] : [first, ...rest];
  return (
    <div className="flow">
      {parts.map((part, i) => (
        <div className="cell" key={i}>
          {part}
        </div>
      ))}
    </div>
  );
}
