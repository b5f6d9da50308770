/** A run that has not ended: what it is doing, for how long, and the button that stops it. */
import { useEffect, useState } from "react";
import { api, type WholeRun } from "../api";
import { messageOf } from "../hooks";
import { texts } from "../texts";
import { formatSeconds, words } from "../words";
import { Failure, Meter } from "./Parts";

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
  return (
    <div className="progress" data-testid="progress">
      <h2>{title}</h2>
      <Meter share={share} label={title} />
      <p className="progress-now" aria-live="polite">
        {state}
        {share !== null && ` (${texts.run.of(run.done ?? 0, run.total ?? 0)})`}
      </p>
      {steps.length > 1 && (
        <ol className="progress-steps">
          {steps.slice(0, -1).map((step, i) => (
            <li key={i}>
              {words(step.step)} {step.seconds !== null && <span className="quiet">{formatSeconds(step.seconds)}</span>}
            </li>
          ))}
        </ol>
      )}
      <p className="quiet small">
        {since !== null && since > 1 && `${texts.run.since(formatSeconds(Math.round(since)))} · `}
        {texts.run.leave}
      </p>
      {since !== null && since > 8 && <p className="quiet small">{texts.run.first}</p>}
      {error && <Failure message={error} />}
      <button type="button" className="button" data-testid="cancel-button" onClick={cancel} disabled={cancelling}>
        {cancelling ? texts.run.cancelling : texts.run.cancel}
      </button>
    </div>
  );
}

function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), 1000);
    return () => window.clearInterval(timer);
  }, []);
  return now;
}
