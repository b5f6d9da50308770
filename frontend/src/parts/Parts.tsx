/** Small pieces that all pages use. */
import { type ReactNode, useEffect, useId, useRef } from "preact/compat";
import type { Claim } from "../api";
import { linkTo } from "../route";
import { texts } from "../texts";

/** The head of a page; it takes the focus when one comes to the page, so that it is read out. */
export function Head({ title, lead, children }: { title: string; lead?: ReactNode; children?: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }, []);
  return (
    <header className="head">
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {lead && <p className="lead">{lead}</p>}
      {children}
    </header>
  );
}

export function Failure({ message, title, again, children }: { message: string; title?: string; again?: () => void; children?: ReactNode }) {
  return (
    <div className="failure" role="alert" data-testid="error">
      <p className="failure-title">{title ?? texts.errors.title}</p>
      <p>{message}</p>
      {again && (
        <button type="button" className="button" onClick={again}>
          {texts.shell.again}
        </button>
      )}
      {children}
    </div>
  );
}

/** For a page that was come to from elsewhere, before the file was looked at. */
export function ColumnsFirst({ file }: { file: string }) {
  return (
    <div className="calm">
      <p>{texts.columns.first}</p>
      <a className="button primary" href={linkTo("columns", file)}>
        {texts.columns.toColumns}
      </a>
    </div>
  );
}

export function Loading() {
  return (
    <p className="loading" role="status">
      <span className="spinner" aria-hidden="true" />
      {texts.shell.loading}
    </p>
  );
}

export function Section({ title, lead, id, children }: { title: string; lead?: ReactNode; id?: string; children: ReactNode }) {
  const own = useId();
  return (
    <section aria-labelledby={own} id={id}>
      <h2 id={own}>{title}</h2>
      {lead && <p className="section-lead">{lead}</p>}
      {children}
    </section>
  );
}

export function Notes({ notes }: { notes: string[] }) {
  return (
    <ul className="notes">
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  );
}

/** A promise with the attackers that it stops, and those that it does not. */
export function ClaimView({ claim, compact }: { claim: Claim; compact?: boolean }) {
  return (
    <>
      <p className={compact ? "promise" : "promise large"}>{claim.promise}</p>
      <div className="pair claim">
        <div className="card against">
          <h3>{texts.method.covered}</h3>
          <ul>
            {claim.covered.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </div>
        <div className="card open">
          <h3>{texts.method.notCovered}</h3>
          <ul>
            {claim.not_covered.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </div>
      </div>
    </>
  );
}

/** The buttons at the end of a page: back on the left, on on the right. */
export function Foot({ back, children }: { back?: ReactNode; children: ReactNode }) {
  return (
    <div className="foot">
      <div className="foot-back">{back}</div>
      <div className="foot-next">{children}</div>
    </div>
  );
}

export function Meter({ share, label, kind }: { share: number | null; label: string; kind?: "before" | "after" }) {
  const percent = share === null ? undefined : Math.round(Math.min(1, Math.max(0, share)) * 100);
  return (
    <div
      className={`track${percent === undefined ? " endless" : ""}`}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
    >
      <span className={`meter ${kind ?? ""}`} style={{ width: percent === undefined ? undefined : `${percent}%` }} />
    </div>
  );
}
