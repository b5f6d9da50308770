import { useState } from "react";
import { api, type DataKind, type Inspection, type Method, type Step } from "../api";
import { changeDraft, type Draft, draftOfRun, readDraft, saidOf, useDraft } from "../draft";
import { type Catalog, inspectionOf, messageOf, useAsked, useCatalog } from "../hooks";
import { ColumnsFirst, Failure, Foot, Head, Loading, Section } from "../parts/Parts";
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
  const methods = [...(catalog.value?.methods ?? [])].sort((a, b) => rank(a) - rank(b));
  const steps = catalog.value?.steps ?? [];
  const isStudy = (method: Method) => texts.method.forStudy.includes(method.name);
  const said = saidOf(file, draft);
  const inspection = useAsked(`inspect ${JSON.stringify(said)}`, () => inspectionOf(file, said));
  const likely = inspection.value?.run?.recipe.method?.name ?? null;
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
      {catalog.loading && !catalog.value && <Loading />}
      {catalog.value && <Search file={file} said={said} catalog={catalog.value} />}
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

/** Tries settings with the real method on this file, from fine to coarse, and offers the finest that leaves enough. */
function Search({ file, said, catalog }: { file: string; said: Record<string, unknown>; catalog: Catalog }) {
  const [state, setState] = useState<{ busy: boolean; found: Inspection | null; error: string | null }>({ busy: false, found: null, error: null });
  const search = async () => {
    setState({ busy: true, found: null, error: null });
    try {
      setState({ busy: false, found: await inspectionOf(file, said, true), error: null });
    } catch (failed) {
      setState({ busy: false, found: null, error: messageOf(failed) });
    }
  };
  const { busy, found, error } = state;
  const tried = found?.tried ?? [];
  const taken = tried.at(-1);
  const run = found?.run ?? null;
  const take = async () => {
    if (!run?.recipe.method) return;
    draftOfRun(run, catalog.methods, catalog.steps, await api.files().catch(() => []));
    goTo("parameters", file, run.recipe.method.name);
  };
  return (
    <Section title={texts.method.search} lead={texts.method.searchLead}>
      <div className="card search" aria-busy={busy}>
        {!found && !busy && (
          <button type="button" className="button primary" data-testid="find-settings" onClick={search}>
            {texts.method.searchStart}
          </button>
        )}
        {busy && (
          <p role="status">
            <span className="spinner" aria-hidden="true" />
            {texts.method.searching}
          </p>
        )}
        {error && <Failure message={error} again={search} />}
        {found?.cannot_be_published && <Failure title={texts.profile.refused} message={found.cannot_be_published} />}
        {tried.length > 0 && (
          <table className="tried">
            <thead>
              <tr>
                <th scope="col">{texts.method.resolution}</th>
                <th scope="col">{texts.method.left}</th>
              </tr>
            </thead>
            <tbody>
              {tried.map((trial) => (
                <tr key={trial.resolution} className={trial === taken ? "taken" : ""}>
                  <td>{trial.resolution}</td>
                  <td>{formatPercent(trial.kept)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        {found && run && (
          <>
            <p className={taken && taken.kept < 0.5 ? "warning" : ""}>{!taken ? texts.method.untried(run.recipe.method?.name ?? "") : taken.kept < 0.5 ? texts.method.little : texts.method.enough}</p>
            <button type="button" className="button primary" data-testid="take-settings" onClick={take}>
              {texts.method.take}
            </button>
          </>
        )}
      </div>
    </Section>
  );
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
