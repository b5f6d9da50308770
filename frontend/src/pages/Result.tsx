import type { Publication, WholeRun } from "../api";
import { Fold } from "../parts/Fold";
import { ClaimView, Head, Notes, Section } from "../parts/Parts";
import { texts } from "../texts";
import { ChartView, FlowView, MapView, RiskChart } from "../visual/Visual";
import { formatSeconds, valueText, words } from "../words";
import { AttackDetails, RiskTable } from "./result/Attacks";
import { Band } from "./result/Band";
import { Balance, Judged, Witness } from "./result/Facts";
import { LossTable, Questions, ScoreDetails } from "./result/Losses";

export function Result({ run, result, change }: { run: WholeRun; result: Publication; change: () => void }) {
  const good = run.state === "done" && result.verdict.holds;
  const after = good ? texts.publishedData : texts.rejectedData;
  return (
    <>
      <Head title={run.title || texts.runs.untitled} lead={`${run.file} · ${run.method ?? ""}`} />
      <Band run={run} result={result} good={good} change={change} />
      {run.claim && (
        <Section title={texts.result.claim} lead={good ? undefined : texts.result.claimBroken}>
          <ClaimView claim={run.claim} />
        </Section>
      )}
      {(result.views.length > 0 || result.maps.length > 0) && (
        <Section title={texts.result.view} lead={result.maps.some((data) => data.layers.some((layer) => layer.raw)) ? texts.result.viewRaw : texts.result.viewLead}>
          {result.maps.map((data) => (
            <div className="wide" key={data.title}>
              <MapView data={data} />
            </div>
          ))}
          <div className="flow">
            {result.views.map((chart) => (
              <div className="cell" key={chart.title}>
                <ChartView chart={chart} />
              </div>
            ))}
          </div>
        </Section>
      )}
      <Section title={texts.result.risk} lead={texts.result.riskLead(after)}>
        <RiskChart rows={result.risks} names={[texts.rawData, after]} />
        <RiskTable rows={result.risks} after={after} />
        {result.attacks.map(({ raw, published }, i) => (
          <Fold key={i} title={words(raw.name)} about={raw.adversary}>
            <AttackDetails raw={raw} published={published} after={after} />
          </Fold>
        ))}
      </Section>
      <Section title={texts.result.loss} lead={texts.result.lossLead}>
        {result.questions.length > 0 && (
          <>
            <h3>{texts.result.questions}</h3>
            <Questions questions={result.questions} />
          </>
        )}
        <LossTable scores={result.scores} />
        {result.scores.map((score) => (
          <Fold key={score.name} title={words(score.name)} about={score.text}>
            <ScoreDetails score={score} />
          </Fold>
        ))}
      </Section>
      <Section title={texts.result.balance}>
        <FlowView stages={result.flow} />
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
