import { useState } from "preact/compat";
import { api, isActive, type Run } from "../api";
import { messageOf, useInfo, useRuns } from "../hooks";
import { Failure, Head, Loading } from "../parts/Parts";
import { linkTo } from "../route";
import { texts } from "../texts";
import { formatBytes, formatDate, formatPercent, formatValue, words } from "../words";

export function Runs({ changed }: { changed: () => void }) {
  const runs = useRuns();
  const info = useInfo(`runs ${runs.value?.length ?? 0}`);
  const [chosen, setChosen] = useState<string[]>([]);
  const [error, setError] = useState<string | null>(null);
  const listed = runs.value ?? [];
  const act = async (what: () => Promise<void>) => {
    setError(null);
    try {
      await what();
      runs.again();
      changed();
    } catch (failed) {
      setError(messageOf(failed));
    }
  };
  const remove = (run: Run) => {
    if (window.confirm(texts.runs.sure(run.title || texts.runs.untitled))) {
      setChosen((old) => old.filter((id) => id !== run.id));
      void act(() => api.deleteRun(run.id));
    }
  };
  const toggle = (run: Run) => setChosen((old) => (old.includes(run.id) ? old.filter((id) => id !== run.id) : [...old, run.id]));
  return (
    <>
      <Head title={texts.runs.title} lead={texts.runs.lead} />
      {info.value && (
        <p className="quiet" data-testid="disk">
          {texts.runs.disk(formatBytes(info.value.disk.used_bytes), formatBytes(info.value.disk.free_bytes))}
        </p>
      )}
      {(error || runs.error) && <Failure message={error ?? runs.error ?? ""} again={runs.error ? runs.again : undefined} />}
      {runs.loading && !runs.value && <Loading />}
      {runs.value && !listed.length && <p className="calm">{texts.runs.empty}</p>}
      {listed.some((run) => run.what === "publish" && run.state === "done") && (
        <p>
          {chosen.length >= 2 ? (
            <a className="button primary" href={linkTo("compare", ...chosen)} data-testid="compare-chosen">
              {texts.runs.compare(chosen.length)}
            </a>
          ) : (
            <span className="quiet">{texts.runs.compare(chosen.length)}</span>
          )}
        </p>
      )}
      <ul className="rows">
        {listed.map((run) => (
          <RunRow key={run.id} run={run} chosen={chosen.includes(run.id)} toggle={() => toggle(run)} remove={() => remove(run)} cancel={() => act(() => api.cancel(run.id))} />
        ))}
      </ul>
    </>
  );
}

function RunRow({ run, chosen, toggle, remove, cancel }: { run: Run; chosen: boolean; toggle: () => void; remove: () => void; cancel: () => void }) {
  const title = run.title || (run.what === "risk" ? texts.runs.riskRun : texts.runs.untitled);
  const link = run.what === "publish" ? linkTo("run", run.id, run.file_id) : linkTo(run.what, run.file_id, run.id);
  const state = run.what !== "publish" && run.state === "done" ? texts.runs.doneRisk : texts.runs.states[run.state];
  const comparable = run.what === "publish" && run.state === "done";
  return (
    <li className="row run-row" data-testid="runs-row" data-state={run.state}>
      <div className="row-check">
        {comparable && <input type="checkbox" checked={chosen} onChange={toggle} aria-label={texts.runs.select(title)} />}
      </div>
      <div className="row-main">
        <a className="row-title" href={link}>
          {title}
        </a>
        <span className="quiet small">
          {run.file}
          {run.method && ` · ${run.method}`} · {formatDate(run.created)} · {formatBytes(run.bytes)}
        </span>
        {run.headline?.head && (
          <span className="small" data-testid="runs-head">
            <strong>{run.headline.head.label}</strong> {run.headline.head.risk}
          </span>
        )}
        {run.error && <span className="small row-error">{run.error}</span>}
        {isActive(run.state) && run.step && <span className="small">{texts.run.step(words(run.step))}</span>}
      </div>
      <div className="row-numbers">
        {run.headline?.risk && (
          <span>
            {texts.runs.risk}{" "}
            <strong>
              {formatPercent(run.headline.risk.raw)}
              {run.what === "publish" && ` → ${formatPercent(run.headline.risk.published)}`}
            </strong>
          </span>
        )}
        {run.headline?.loss && (
          <span>
            {texts.runs.loss} <strong>{formatValue(run.headline.loss.value, run.headline.loss.percent ?? true)}</strong>
          </span>
        )}
      </div>
      <span className={`badge ${run.state}`}>{state}</span>
      <div className="row-actions">
        {isActive(run.state) ? (
          <button type="button" className="button" onClick={cancel}>
            {texts.run.cancel}
          </button>
        ) : (
          <button type="button" className="button quiet-danger" aria-label={texts.runs.removeNamed(title)} onClick={remove}>
            {texts.runs.remove}
          </button>
        )}
      </div>
    </li>
  );
}
