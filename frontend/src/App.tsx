/** The frame around all pages: where one is, where one can go, and what is shown there. */
import { Component, type ReactNode, useEffect, useState } from "preact/compat";
import { readDraft } from "./draft";
import { useInfo } from "./hooks";
import { Advise } from "./pages/Advise";
import { Columns } from "./pages/Columns";
import { Compare } from "./pages/Compare";
import { Files } from "./pages/Files";
import { MethodChoice } from "./pages/MethodChoice";
import { Parameters } from "./pages/Parameters";
import { Risk } from "./pages/Risk";
import { Report } from "./pages/Report";
import { RunPage } from "./pages/RunPage";
import { Runs } from "./pages/Runs";
import { Failure } from "./parts/Parts";
import { linkTo, type Page, type Route, useRoute } from "./route";
import { texts } from "./texts";
import { formatBytes } from "./words";

const STEPS: Page[] = ["files", "columns", "risk", "method", "parameters", "run"];

export function App() {
  const route = useRoute();
  const [round, setRound] = useState(0);
  const info = useInfo(`${route.page === "run" ? route.parts[0] : route.page} ${round}`);
  const changed = () => setRound((n) => n + 1);
  useEffect(() => {
    document.title = texts.shell.title(texts.shell.titles[route.page]);
  }, [route.page]);
  useEffect(() => {
    // A file that is dropped beside its place must not take the page away.
    const stay = (event: Event) => event.preventDefault();
    window.addEventListener("dragover", stay);
    window.addEventListener("drop", stay);
    return () => {
      window.removeEventListener("dragover", stay);
      window.removeEventListener("drop", stay);
    };
  }, []);
  const key = [route.page, ...(route.page === "compare" ? [] : route.parts)].join("/");
  return (
    <>
      <a className="skip" href={`#content`} onClick={toContent}>
        {texts.shell.skip}
      </a>
      <div className="frame">
        <div className="side">
          <header className="brand">
            <a href={linkTo("files")}>
              <img src="/assets/icon.svg" alt="" width="28" height="28" /> {texts.shell.brand}
            </a>
            <p className="tagline">{texts.shell.tagline}</p>
          </header>
          <Stepper route={route} />
          <nav className="places" aria-label={texts.shell.places}>
            <PlaceLink page="files" now={route.page} text={texts.shell.fresh} />
            <PlaceLink page="runs" now={route.page} text={texts.shell.runs} />
            <PlaceLink page="compare" now={route.page} text={texts.shell.compare} />
          </nav>
          <footer className="side-foot">
            <p>{texts.shell.local}</p>
            {info.value && <p>{texts.shell.disk(formatBytes(info.value.disk.used_bytes), formatBytes(info.value.disk.free_bytes))}</p>}
            {info.value && (
              <p>
                {texts.shell.brand} {info.value.version}
              </p>
            )}
          </footer>
        </div>
        <main id="content" tabIndex={-1}>
          {info.error && <Failure message={info.error} again={info.again} />}
          <Guard key={key}>
            <PageOf route={route} most={info.value?.limits.upload_bytes ?? null} changed={changed} />
          </Guard>
        </main>
      </div>
    </>
  );
}

function PageOf({ route, most, changed }: { route: Route; most: number | null; changed: () => void }) {
  const [first, second] = route.parts;
  if (route.page === "runs") return <Runs changed={changed} />;
  if (route.page === "compare") return <Compare chosen={route.parts} />;
  if (!first) return <Files most={most} changed={changed} />;
  switch (route.page) {
    case "columns":
      return <Columns file={first} />;
    case "risk":
      return <Risk file={first} run={second ?? null} />;
    case "advise":
      return <Advise file={first} run={second ?? null} />;
    case "method":
      return <MethodChoice file={first} />;
    case "parameters":
      return second ? <Parameters file={first} name={second} /> : <MethodChoice file={first} />;
    case "run":
      return <RunPage id={first} />;
    case "report":
      return <Report id={first} />;
    default:
      return <Files most={most} changed={changed} />;
  }
}

/** Where one is; steps that were made before are links. */
function Stepper({ route }: { route: Route }) {
  const here = STEPS.indexOf(route.page === "advise" ? "method" : route.page === "report" ? "run" : route.page);
  if (here < 0) return <div className="stepper-room" />;
  const file = (route.page === "run" || route.page === "report" ? route.parts[1] : route.parts[0]) ?? null;
  const method = file ? readDraft(file).stepsFor : "";
  return (
    <nav className="stepper" aria-label={texts.shell.steps}>
      <p className="stepper-now">{texts.shell.step(here + 1, STEPS.length, texts.shell.titles[route.page])}</p>
      <ol>
        {STEPS.map((page, i) => {
          const state = i === here ? "now" : i < here ? "before" : "later";
          const parts = page === "files" ? [] : page === "parameters" ? [file, method] : [file];
          const link = i < here && parts.every(Boolean) ? linkTo(page, ...(parts as string[])) : null;
          const inside = (
            <>
              <span className="dot" aria-hidden="true">
                {i < here ? "✓" : i + 1}
              </span>
              <span className="step-name">{texts.shell.titles[page]}</span>
            </>
          );
          return (
            <li key={page} className={state} aria-current={i === here ? "step" : undefined}>
              {link ? <a href={link}>{inside}</a> : <span>{inside}</span>}
            </li>
          );
        })}
      </ol>
    </nav>
  );
}

function PlaceLink({ page, now, text }: { page: Page; now: Page; text: string }) {
  return (
    <a href={linkTo(page)} aria-current={page === now ? "page" : undefined}>
      {text}
    </a>
  );
}

function toContent(event: { preventDefault: () => void }): void {
  event.preventDefault();
  document.getElementById("content")?.focus();
}

/** A mistake in one page must not take the frame with it. */
class Guard extends Component<{ children: ReactNode }, { broken: boolean }> {
  override state = { broken: false };

  static getDerivedStateFromError(): { broken: boolean } {
    return { broken: true };
  }

  override render(): ReactNode {
    return this.state.broken ? <Failure message={texts.errors.broken} /> : this.props.children;
  }
}
