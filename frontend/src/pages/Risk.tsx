import { useState } from "preact/compat";
import { api, isActive, type RiskFound } from "../api";
import { riskKey, riskRecipe, useDraft } from "../draft";
import { messageOf, useRun } from "../hooks";
import { Failure, Foot, Head, Loading, Notes, Section } from "../parts/Parts";
import { Progress } from "../parts/Progress";
import { linkTo, replaceBy } from "../route";
import { texts } from "../texts";
import type { AttackData, RiskRow } from "../visual/results";
import { ChartView, RiskChart } from "../visual/Visual";
import { oneIn, sentence, words } from "../words";

export function Risk({ file, run: given }: { file: string; run: string | null }) {
  const [draft, change] = useDraft(file);
  const id = given ?? draft.risk?.run ?? null;
  const { run, error } = useRun(id);
  const [failed, setFailed] = useState<string | null>(null);
  const stale = draft.risk !== null && draft.kind !== null && draft.risk.run === id && draft.risk.of !== riskKey(file, draft);

  const again = async () => {
    setFailed(null);
    try {
      const started = await api.start("risk", "", riskRecipe(file, draft));
      change({ risk: { run: started.id, of: riskKey(file, draft) } });
      replaceBy("risk", file, started.id);
    } catch (problem) {
      setFailed(messageOf(problem));
    }
  };

  return (
    <>
      <Head title={texts.risk.title} lead={texts.risk.lead} />
      {failed && <Failure message={failed} />}
      {error && <Failure message={error} />}
      {id === null && (
        <div className="calm">
          <p>{texts.risk.none}</p>
          <button type="button" className="button primary" onClick={again} disabled={draft.kind === null}>
            {texts.risk.start}
          </button>
        </div>
      )}
      {stale && run && !isActive(run.state) && (
        <div className="warning">
          <p>{texts.risk.stale}</p>
          <button type="button" className="button" onClick={again}>
            {texts.risk.again}
          </button>
        </div>
      )}
      {id !== null && !run && !error && <Loading />}
      {run && isActive(run.state) && <Progress run={run} title={texts.risk.running} />}
      {run && (run.state === "failed" || run.state === "refused") && (
        <Failure title={texts.risk.failed} message={run.error ?? ""}>
          <a className="button" href={linkTo("columns", file)}>
            {texts.risk.back}
          </a>
        </Failure>
      )}
      {run?.state === "cancelled" && (
        <div className="calm">
          <p>{texts.risk.cancelled}</p>
          <button type="button" className="button" onClick={again}>
            {texts.risk.again}
          </button>
        </div>
      )}
      {run?.state === "done" && run.result && <Found id={run.id} found={run.result as RiskFound} />}
      <Foot
        back={
          <a className="button" href={linkTo("columns", file)}>
            {texts.risk.back}
          </a>
        }
      >
        <a className={`button${run && isActive(run.state) ? "" : " primary"}`} href={linkTo("method", file)} data-testid="next">
          {texts.risk.next}
        </a>
      </Foot>
    </>
  );
}

function Found({ id, found }: { id: string; found: RiskFound }) {
  const attacks = found.attacks.map((attack) => attack.raw);
  const [worst] = found.risks;
  const high = found.risks.some((row) => (row.raw_above?.value ?? 0) > 0);
  return (
    <>
      {worst?.raw && (
        <div className={`band ${high ? "bad" : "calm-band"}`}>
          <p className="verdict">{high ? texts.risk.high : texts.risk.low}</p>
          <p>{told(worst)}</p>
          <p className="facts">{found.facts}</p>
        </div>
      )}
      {found.risks.length > 1 && (
        <Section title={texts.risk.all}>
          <RiskChart rows={found.risks} names={[texts.rawData, texts.publishedData]} />
        </Section>
      )}
      <div className="cards">
        {attacks.map((attack, i) => (
          <AttackCard key={`${attack.name}${i}`} attack={attack} rows={found.risks.filter((row) => row.attack === attack.name)} />
        ))}
      </div>
      {found.notes.length > 0 && (
        <Section title={texts.risk.notes}>
          <Notes notes={found.notes} />
        </Section>
      )}
      <p>
        <a className="text-link" href={`/api/runs/${encodeURIComponent(id)}/report.html`} download>
          {texts.risk.onlyNow}
        </a>
      </p>
    </>
  );
}

/** What an attacker achieves, in a sentence. */
function told(row: RiskRow): string {
  const who = sentence(row.adversary).replace(/\.$/, "");
  const value = row.raw?.text ?? "–";
  if (row.raw?.about === "attribute") return texts.risk.headlineInfer(who, value);
  return row.raw?.about ? texts.risk.headline(who, value) : texts.risk.headlineExposed(who, value);
}

function AttackCard({ attack, rows }: { attack: AttackData; rows: RiskRow[] }) {
  const [open, setOpen] = useState(false);
  const [first] = rows;
  const odds = first?.raw?.unit === "probability" ? oneIn(first.raw.value) : "";
  const facts = rows.flatMap((row): [string, string][] => [
    ...(row === first || !row.raw ? [] : ([[row.what || row.raw.label, row.raw.text]] as [string, string][])),
    ...(row.raw_worst ? ([[row.raw_worst.label, row.raw_worst.text]] as [string, string][]) : []),
    ...(row.raw_above ? ([[row.raw_above.label, row.raw_above.text]] as [string, string][]) : []),
  ]);
  return (
    <article className="card risk-card" data-testid="risk-card">
      <h2>{sentence(attack.adversary).replace(/\.$/, "")}</h2>
      <p className="big">
        {first?.raw?.text ?? "–"} <span className="unit">{[odds, first?.raw?.label.toLowerCase()].filter(Boolean).join(", ")}</span>
      </p>
      <dl className="facts-list">
        {facts.map(([name, value], i) => (
          <div key={i}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>{texts.risk.details}</summary>
        {open && (
          <>
            <p className="quiet small">
              {words(attack.name)}: {attack.sampled ? texts.risk.sampled(attack.victims) : texts.risk.exact(attack.victims)}
            </p>
            {attack.charts.map((chart) => (
              <ChartView key={chart.title} chart={chart} />
            ))}
            <table className="numbers small-table">
              <tbody>
                {Object.entries(attack.numbers)
                  .filter(([, number]) => number.value !== null)
                  .map(([name, number]) => (
                    <tr key={name}>
                      <th scope="row">{number.label}</th>
                      <td>{number.text}</td>
                    </tr>
                  ))}
              </tbody>
            </table>
          </>
        )}
      </details>
    </article>
  );
}
