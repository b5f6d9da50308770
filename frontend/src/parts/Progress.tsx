/** A run that has not ended: what it is doing, for how long, and the button that stops it. */
import { useEffect, useState } from "preact/compat";
import { api, type WholeRun } from "../api";
import { messageOf } from "../hooks";
import { texts } from "../texts";
import { formatSeconds, words } from "../words";
import { Failure, Meter } from "./Parts";

/** The steps of a publication, as the pipeline tells them. */
const STEPS = ["read and prepare", "compile kernels", "run the method", "write and read back", "verify", "attack", "measure"];

export function Progress({ run, title }: { run: WholeRun; title: string }) {
  const [cancelling, setCancelling] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const now = useNow();
  const cancel = async () => {
    setCancelling(true);
    try {
      await api.cancel(run.id);
    } catch (failed) {
      setError(messageOf(failed));
      setCancelling(false);
    }
  };
  const share = run.done !== null && run.total ? run.done / run.total : null;
  const state = run.state === "queued" ? texts.run.queued : run.step ? texts.run.step(words(run.step)) : texts.run.running;
  const since = run.started ? Math.max(0, (now - new Date(run.started).getTime()) / 1000) : null;
  const steps = run.progress ?? [];
  const begun = new Set(steps.map((one) => one.step));
  const ahead = run.what === "publish" ? STEPS.filter((step) => !begun.has(step) && STEPS.indexOf(step) > Math.max(-1, ...steps.map((one) => STEPS.indexOf(one.step)))) : [];
  const left = secondsLeft(run, since);
  return (
    <div className="progress" data-testid="progress">
      <h2>{title}</h2>
      <Meter share={share} label={title} />
      <p className="progress-now" aria-live="polite">
        {state}
        {share !== null && ` (${texts.run.of(run.done ?? 0, run.total ?? 0)})`}
      </p>
      {run.what !== "advise" && (
        <p data-testid="estimate">{left === null ? texts.run.noEstimate : texts.run.left(formatSeconds(Math.max(1, Math.round(left))), run.expected?.same_file ?? false)}</p>
      )}
      {(steps.length > 1 || ahead.length > 0) && (
        <ol className="progress-steps">
          {steps.slice(0, -1).map((step, i) => (
            <li key={i}>
              {words(step.step)} {step.seconds !== null && <span className="quiet">{formatSeconds(step.seconds)}</span>}
            </li>
          ))}
          {ahead.map((step) => (
            <li key={step} className="ahead" data-testid="step-ahead">
              {words(step)} <span className="quiet">{texts.run.ahead}</span>
            </li>
          ))}
        </ol>
      )}
      <p className="quiet small">
        {since !== null && since > 1 && `${texts.run.since(formatSeconds(Math.round(since)))} · `}
        {texts.run.leave}
      </p>
      {((run.step ?? "").startsWith("compil") || (since !== null && since > 8)) && <p className="quiet small">{texts.run.first}</p>}
      {error && <Failure message={error} />}
      <button type="button" className="button" data-testid="cancel-button" onClick={cancel} disabled={cancelling}>
        {cancelling ? texts.run.cancelling : texts.run.cancel}
      </button>
    </div>
  );
}

/** What is left of the time that an earlier run took, less what this one has used; null where there was none. */
export function secondsLeft(run: WholeRun, since: number | null): number | null {
  if (!run.expected) return null;
  return Math.max(0, run.expected.steps.reduce((sum, one) => sum + one.seconds, 0) - (since ?? 0));
}

function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), 1000);
    return () => window.clearInterval(timer);
  }, []);
  return now;
}
