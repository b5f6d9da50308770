import type { DataKind, Inspection, Method, Step } from "../api";
import { changeDraft, type Draft, readDraft, saidOf, useDraft } from "../draft";
import { inspectionOf, useAsked, useCatalog } from "../hooks";
import { ColumnsFirst, Failure, Foot, Head, Loading } from "../parts/Parts";
import { goTo, linkTo } from "../route";
import { isReachable, neededFiles, neededSteps, stepBetween, takes } from "../steps";
import { order } from "../suggestions";
import { texts } from "../texts";
import { formatPercent, words } from "../words";

const FIRST = 2; // methods that are shown unfolded

export function MethodChoice({ file }: { file: string }) {
  const [draft] = useDraft(file);
  return draft.kind === null ? <ColumnsFirst file={file} /> : <Choices file={file} draft={draft} kind={draft.kind} />;
}

function Choices({ file, draft, kind }: { file: string; draft: Draft; kind: DataKind }) {
  const catalog = useCatalog();
  const said = saidOf(file, draft);
  const inspection = useAsked(`inspect ${JSON.stringify(said)}`, () => inspectionOf(file, said));
  const likely = inspection.value?.run?.recipe.method?.name ?? null;
  // Cards are shown once it is known which come first, so that none moves away under the pointer.
  const known = inspection.value !== null || inspection.error !== null;
  const methods = known ? [...(catalog.value?.methods ?? [])].sort((a, b) => rank(a) - rank(b)) : [];
  const steps = catalog.value?.steps ?? [];
  const isStudy = (method: Method) => texts.method.forStudy.includes(method.name);
  const fitting = methods.filter((method) => takes(method, kind) && !isStudy(method));
  // What suits this file comes first; the sort keeps the others in their order.
  const direct = fitting.sort((a, b) => Number(b.name === likely) - Number(a.name === likely));
  const others = direct.slice(FIRST);
  const study = methods.filter((method) => takes(method, kind) && isStudy(method));
  const after = methods.filter((method) => !takes(method, kind) && isReachable(kind, method, steps) && !isStudy(method));
  return (
    <>
      <Head title={texts.method.title} lead={texts.method.lead(kind)} />
      {catalog.error && <Failure message={catalog.error} again={catalog.again} />}
      {((catalog.loading && !catalog.value) || !known) && <Loading />}
      <div className="card search">
        <h2>{texts.advise.title}</h2>
        <p>{texts.advise.lead}</p>
        <a className="button primary" href={linkTo("advise", file)} data-testid="find-settings">
          {texts.advise.open}
        </a>
      </div>
      {direct.length > 0 && (
        <div className="method-cards">
          {direct.slice(0, FIRST).map((method) => (
            <MethodCard key={method.name} file={file} kind={kind} method={method} steps={steps} reason={reasonFor(method, likely, inspection.value)} />
          ))}
        </div>
      )}
      {others.length > 0 && (
        <details className="fold" data-testid="other-methods">
          <summary>{texts.method.others(others.length)}</summary>
          <div className="method-cards">
            {others.map((method) => (
              <MethodCard key={method.name} file={file} kind={kind} method={method} steps={steps} />
            ))}
          </div>
        </details>
      )}
      {after.length > 0 && (
        <details className="fold" data-testid="after-a-step">
          <summary>{texts.method.after(after.length)}</summary>
          <p className="section-lead">{texts.method.afterLead}</p>
          <div className="method-cards">
            {after.map((method) => (
              <MethodCard key={method.name} file={file} kind={kind} method={method} steps={steps} />
            ))}
          </div>
        </details>
      )}
      {study.length > 0 && (
        <details className="fold">
          <summary>{texts.method.study}</summary>
          <div className="method-cards">
            {study.map((method) => (
              <MethodCard key={method.name} file={file} kind={kind} method={method} steps={steps} />
            ))}
          </div>
        </details>
      )}
      <Foot
        back={
          <a className="button" href={linkTo("risk", file)}>
            {texts.method.back}
          </a>
        }
      >
        {null}
      </Foot>
    </>
  );
}

/** Why a method comes first, in words about this file. */
function reasonFor(method: Method, likely: string | null, seen: Inspection | null): string {
  const together = Number(seen?.facts.people_move_at_one_time ?? Number.NaN);
  const about = texts.method.reasons[method.name];
  if (method.name === likely && Number.isFinite(together)) return together >= 0.5 ? texts.method.together(formatPercent(together)) : texts.method.apart;
  return about ?? "";
}

/** Goes to the settings of a method; the steps that it cannot do without are put in. */
function choose(file: string, kind: DataKind, method: Method, steps: Step[]): void {
  const draft = readDraft(file);
  if (draft.stepsFor !== method.name) {
    const needed = neededSteps(kind, method, steps).map((step, key) => ({ key, step, values: {} }));
    changeDraft(file, { stepsFor: method.name, steps: needed });
  }
  const formats = method.publishes === "points" || method.publishes === "regions" ? ["csv", "parquet", "geojson"] : ["csv", "parquet"];
  if (!formats.includes(draft.format)) changeDraft(file, { format: "csv" });
  goTo("parameters", file, method.name);
}

function MethodCard({ file, kind, method, steps, reason }: { file: string; kind: DataKind; method: Method; steps: Step[]; reason?: string }) {
  const between = stepBetween(kind, method, steps);
  const added = neededSteps(kind, method, steps);
  const needs = [
    ...added.map((name) => texts.method.needsStep(name)),
    ...neededFiles(null, added, readDraft(file)).map(({ role }) => texts.side.words[role]),
    ...method.parameters.filter((p) => p.required).map((p) => `${p.name}: ${p.help}`),
  ];
  return (
    <article className="card method-card" data-testid={`method-card-${method.name}`}>
      <div className="method-head">
        <h2>
          {method.name}
          {between && <span className="tag">{texts.method.step(between.name)}</span>}
        </h2>
        <p className="outcome">{texts.method.outcome[method.name] ?? words(method.summary)}</p>
        {reason && <p className="reason">{reason}</p>}
        <p className="quiet small">
          {method.summary} · {texts.method.publishes(method.publishes)}
        </p>
      </div>
      <div className="method-promise">
        <h3>{texts.method.promise}</h3>
        <p>{method.promise.replace("ATTRIBUTE: VALUE", texts.method.exampleValue)}</p>
      </div>
      <div className="pair">
        <div>
          <h3 className="yes">{texts.method.covered}</h3>
          <ul className="marked yes">
            {method.covered.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
          <h3>{texts.method.needs}</h3>
          <ul>
            {needs.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </div>
        <div>
          <h3 className="no">{texts.method.notCovered}</h3>
          <ul className="marked no">
            {method.not_covered.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </div>
      </div>
      <button type="button" className="button primary" onClick={() => choose(file, kind, method, steps)}>
        {texts.method.choose(method.name)}
      </button>
    </article>
  );
}

const rank = (method: Method): number => (order.includes(method.name) ? order.indexOf(method.name) : order.length);
