import type { Publication, WholeRun } from "../../api";
import { linkTo } from "../../route";
import { texts } from "../../texts";
import type { MarkData } from "../../visual/results";
import { pageWords } from "../../words";

/** The verdict with its key numbers, what can be downloaded, and where to go from here. */
export function Band({ run, result, good, change }: { run: WholeRun; result: Publication; good: boolean; change: () => void }) {
  const at = `/api/runs/${encodeURIComponent(run.id)}`;
  const open = result.verdict.not_judged.length;
  const { head } = result;
  const but = good && head.state === "but";
  return (
    <section className={`band ${but ? "but" : good ? "good" : "bad"}`} data-testid="verdict" data-state={head.state} aria-label={head.label}>
      <div className="band-head">
        <svg className="sign" viewBox="0 0 40 40" aria-hidden="true">
          <circle cx="20" cy="20" r="19" />
          <path d={but ? "M20 9 L20 23 M20 29 L20 31" : good ? "M11 21 L18 28 L30 13" : "M13 13 L27 27 M27 13 L13 27"} />
        </svg>
        <div>
          <p className="state-label" data-testid="head-label">
            {head.label}
          </p>
          <p className="verdict">{good ? head.title : texts.result.bad}</p>
          {but && (
            <>
              {head.reasons.map((reason) => (
                <p className="but-reason" key={reason}>
                  {reason.charAt(0).toUpperCase() + reason.slice(1)}.
                </p>
              ))}
              <p>{texts.result.remedies(head.remedies.map(pageWords).join("; "))}</p>
            </>
          )}
          <p>{result.verdict.reason}</p>
          <p>{good ? texts.result.goodLead : texts.result.badLead}</p>
          {open > 0 && <p>{texts.result.notJudged(open)}</p>}
        </div>
      </div>
      <div className="marks">
        {result.marks.map((mark) => (
          <MarkCard key={mark.label} mark={mark} />
        ))}
      </div>
      <div className="downloads">
        {good && (
          <Download href={`${at}/public.zip`} id="download-zip" title={texts.result.zip} about={texts.result.zipAbout} main />
        )}
        <Download href={`${at}/report.html`} id="download-report" title={texts.result.report} about={texts.result.reportAbout} />
        <Download href={`${at}/recipe.toml`} id="download-recipe" title={texts.result.recipe} about={texts.result.recipeAbout} />
      </div>
      <div className="buttons">
        <a className="button on-band" href={linkTo("report", run.id)} data-testid="open-report">
          {texts.result.openReport}
        </a>
        <button type="button" className={good ? "button on-band" : "button on-band strong"} onClick={change} data-testid="change-settings">
          {texts.result.tryOther}
        </button>
        <a className="button on-band" href={linkTo("method", run.file_id)}>
          {texts.result.tryMethod}
        </a>
        {good && (
          <a className="button on-band" href={linkTo("compare", run.id)}>
            {texts.result.compare}
          </a>
        )}
      </div>
    </section>
  );
}

function Download({ href, id, title, about, main }: { href: string; id: string; title: string; about: string; main?: boolean }) {
  return (
    <a className={`download${main ? " main" : ""}`} href={href} download data-testid={id}>
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <path d="M12 4 V15 M7 11 L12 16 L17 11 M5 20 H19" />
      </svg>
      <span>
        <strong>{title}</strong>
        <span className="download-about">{about}</span>
      </span>
    </a>
  );
}

function MarkCard({ mark }: { mark: MarkData }) {
  return (
    <div className={`mark ${mark.state}`}>
      <p className="mark-label">{mark.label}</p>
      <p className="big">
        {mark.value} {mark.unit && <span className="unit">{mark.unit}</span>}
      </p>
      {mark.promised && (
        <p className="promised">
          {mark.promised}{" "}
          {mark.state !== "plain" && <span className="state">{mark.state === "kept" ? `✓ ${texts.result.kept}` : `✕ ${texts.result.broken}`}</span>}
        </p>
      )}
      <p className="mark-meaning">{mark.meaning}</p>
    </div>
  );
}
