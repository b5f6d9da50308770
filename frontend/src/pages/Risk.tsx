import { useState } from "react";
import { type AttackResult, api, isActive, type RiskFound } from "../api";
import { ChartView } from "../charts/ChartView";
import { riskKey, riskRecipe, useDraft } from "../draft";
import { messageOf, useRun } from "../hooks";
import { Failure, Foot, Head, Loading, Meter, Notes, Section } from "../parts/Parts";
import { Progress } from "../parts/Progress";
import { linkTo, replaceBy } from "../route";
import { texts } from "../texts";
import { boundWords, formatPercent, isShare, formatNumber, oneIn, sentence, words } from "../words";

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
  const worst = attacks.reduce<AttackResult | null>((most, one) => (headline(one).value > (most ? headline(most).value : -1) ? one : most), null);
  const told = worst && headline(worst);
  return (
    <>
      {worst && told && (
        <div className={`band ${told.value >= 0.05 ? "bad" : "calm-band"}`}>
          <p className="verdict">{told.value >= 0.05 ? texts.risk.high : texts.risk.low}</p>
          <p>{told.sentence}</p>
          <p className="facts">{found.facts}</p>
        </div>
      )}
      <div className="cards">
        {attacks.map((attack, i) => (
          <AttackCard key={`${attack.name}${i}`} attack={attack} />
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

/** The number of an attack that says most, and a sentence around it. */
function headline(attack: AttackResult): { value: number; sentence: string; what: string; worst: number | null } {
  const m = attack.measured;
  const who = sentence(attack.adversary).replace(/\.$/, "");
  if (typeof m.identity_mean === "number") {
    return { value: m.identity_mean, sentence: texts.risk.headline(who, formatPercent(m.identity_mean)), what: texts.risk.mean, worst: m.identity_max ?? null };
  }
  if (typeof m.attribute_mean === "number") {
    return { value: m.attribute_mean, sentence: texts.risk.headlineInfer(who, formatPercent(m.attribute_mean)), what: texts.risk.infer, worst: m.attribute_max ?? null };
  }
  const share = m.exposed_people_share ?? 0;
  return { value: share, sentence: texts.risk.headlineExposed(who, formatPercent(share)), what: texts.risk.exposedPeople, worst: null };
}

function AttackCard({ attack }: { attack: AttackResult }) {
  const [open, setOpen] = useState(false);
  const told = headline(attack);
  const m = attack.measured;
  const rows: [string, string][] = [];
  if (told.worst !== null) rows.push([texts.risk.worst, formatPercent(told.worst)]);
  if (typeof m.unique_share === "number") rows.push([texts.risk.unique, formatPercent(m.unique_share)]);
  if (typeof m.identity_mean === "number" && typeof m.attribute_mean === "number") rows.push([texts.risk.infer, formatPercent(m.attribute_mean)]);
  if (typeof m.identity_share_above === "number" && typeof m.identity_threshold === "number") {
    rows.push([texts.risk.above(boundWords(m.identity_threshold, true)), formatPercent(m.identity_share_above)]);
  }
  const odds = typeof m.identity_mean === "number" ? oneIn(m.identity_mean) : "";
  return (
    <article className="card risk-card" data-testid="risk-card">
      <h2>{sentence(attack.adversary).replace(/\.$/, "")}</h2>
      <p className="big">
        {formatPercent(told.value)} <span className="unit">{odds ? `${odds}, ${told.what}` : told.what}</span>
      </p>
      <Meter share={told.value} label={words(attack.name)} kind="before" />
      <dl className="facts-list">
        {rows.map(([name, value]) => (
          <div key={name}>
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
                {Object.entries(m)
                  .filter(([name, value]) => value !== null && !/_(threshold|low|high)$/.test(name))
                  .map(([name, value]) => (
                    <tr key={name}>
                      <th scope="row">{words(name)}</th>
                      <td>{isShare(name, value) ? formatPercent(value) : formatNumber(value)}</td>
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
