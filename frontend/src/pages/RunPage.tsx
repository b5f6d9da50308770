import { api, isActive, type Publication, type WholeRun } from "../api";
import { draftOfRun } from "../draft";
import { type Catalog, useCatalog, useRun } from "../hooks";
import { Failure, Head, Loading } from "../parts/Parts";
import { Progress } from "../parts/Progress";
import { goTo, linkTo } from "../route";
import { texts } from "../texts";
import { Result } from "./Result";

export function RunPage({ id }: { id: string }) {
  const { run, error } = useRun(id);
  const catalog = useCatalog();
  if (error && !run) {
    return (
      <>
        <Head title={texts.shell.titles.run} />
        <Failure message={error} />
      </>
    );
  }
  if (!run) return <Loading />;
  const title = run.title || texts.runs.untitled;
  const change = () => catalog.value && void backToSettings(run, catalog.value);
  if (isActive(run.state)) {
    return (
      <>
        <Head title={title} lead={run.file} />
        {error && <Failure message={error} />}
        <Progress run={run} title={texts.run.title[run.what]} />
      </>
    );
  }
  const result = run.result as Publication | null | undefined;
  if (run.what === "publish" && result?.verdict && result.version === undefined) {
    return (
      <>
        <Head title={title} lead={run.file} />
        <div className="calm" data-testid="verdict">
          <p>{texts.result.earlier}</p>
          <a className="button" href={`/api/runs/${encodeURIComponent(run.id)}/report.html`} download>
            {texts.result.report}
          </a>
        </div>
      </>
    );
  }
  if (run.what === "publish" && result?.verdict) return <Result run={run} result={result} change={change} />;
  return (
    <>
      <Head title={title} lead={run.file} />
      <Ended run={run} change={change} />
    </>
  );
}

/** A run that has nothing to show: what became of it, and where to go on. */
function Ended({ run, change }: { run: WholeRun; change: () => void }) {
  const buttons = (
    <p className="buttons">
      {run.what === "publish" && (
        <button type="button" className="button primary" onClick={change} data-testid="change-settings">
          {texts.run.change}
        </button>
      )}
      <a className="button" href={linkTo("columns", run.file_id)}>
        {texts.run.columns}
      </a>
    </p>
  );
  if (run.state === "cancelled") {
    return (
      <div className="calm" data-testid="cancelled">
        <h2>{texts.run.cancelledTitle}</h2>
        <p>{texts.run.cancelledText}</p>
        {buttons}
      </div>
    );
  }
  if (run.state === "done" && run.what === "risk") {
    return (
      <p>
        <a className="button primary" href={linkTo("risk", run.file_id, run.id)}>
          {texts.run.toRisk}
        </a>
      </p>
    );
  }
  if (run.state === "refused") {
    return (
      <div className="band bad" role="status" data-testid="verdict">
        <p className="verdict">{texts.result.bad}</p>
        <p>{run.error || texts.result.nothingLeft}</p>
        {buttons}
      </div>
    );
  }
  return (
    <Failure title={texts.run.failedTitle} message={`${run.error ?? ""} ${texts.run.failedText}`.trim()}>
      {buttons}
    </Failure>
  );
}

async function backToSettings(run: WholeRun, catalog: Catalog): Promise<void> {
  draftOfRun(run, catalog.methods, catalog.steps, await api.files().catch(() => []));
  if (run.recipe.method) goTo("parameters", run.file_id, run.recipe.method.name);
  else goTo("columns", run.file_id);
}
