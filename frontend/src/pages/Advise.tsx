import { useState } from "preact/compat";
import { type Advice, api, isActive, type Method, type Recipe, type Step } from "../api";
import { type Draft, draftOfRun, inputOf, saidOf, useDraft } from "../draft";
import { type Catalog, inspectionOf, messageOf, useAsked, useCatalog, useRun } from "../hooks";
import { ColumnsFirst, Failure, Foot, Head, Loading, Section } from "../parts/Parts";
import { Progress } from "../parts/Progress";
import { goTo, linkTo, replaceBy } from "../route";
import { isReachable, neededSteps, takes } from "../steps";
import { order, suggestions } from "../suggestions";
import { texts } from "../texts";
import { FrontierView } from "../visual/Visual";
import { formatPercent } from "../words";

const MOST_PEOPLE = 1000;
const MOST_MINUTES = 60;

export function Advise({ file, run }: { file: string; run: string | null }) {
  const [draft] = useDraft(file);
  const catalog = useCatalog();
  if (draft.kind === null) return <ColumnsFirst file={file} />;
  return (
    <>
      <Head title={texts.advise.title} lead={texts.advise.lead} />
      {catalog.error && <Failure message={catalog.error} again={catalog.again} />}
      {catalog.loading && !catalog.value && <Loading />}
      {catalog.value && <Search key={run ?? ""} file={file} id={run} draft={draft} catalog={catalog.value} />}
      <Foot
        back={
          <a className="button" href={linkTo("method", file)}>
            {texts.advise.back}
          </a>
        }
      >
        {null}
      </Foot>
    </>
  );
}

function Search({ file, id, draft, catalog }: { file: string; id: string | null; draft: Draft; catalog: Catalog }) {
  const { run, error } = useRun(id);
  const [failed, setFailed] = useState<string | null>(null);
  const said = saidOf(file, draft);
  const inspection = useAsked(`inspect ${JSON.stringify(said)}`, () => inspectionOf(file, said));
  const [k, setK] = useState("5");
  const [use, setUse] = useState("");
  const [risk, setRisk] = useState<number | null>(null); // until it is moved, what the promise tolerates
  const [minutes, setMinutes] = useState("5");
  const people = wholeIn(k, MOST_PEOPLE);
  const budget = wholeIn(minutes, MOST_MINUTES);
  const limit = risk ?? (people === null ? 1 : 1 / people);

  const start = async () => {
    setFailed(null);
    const begin = beginning(draft, catalog, inspection.value?.run?.recipe ?? null);
    if (!begin || people === null || budget === null) return;
    const recipe: Recipe = {
      input: inputOf(file, draft),
      prepare: begin.prepare,
      method: withPeople(begin.method, catalog.methods, people),
      seed: null,
      use: use || null,
      ...(risk === null ? {} : { max_risk: risk }),
      budget_minutes: budget,
    };
    try {
      const started = await api.start("advise", "", recipe);
      replaceBy("advise", file, started.id);
    } catch (problem) {
      setFailed(messageOf(problem));
    }
  };

  return (
    <>
      {error && <Failure message={error} />}
      {id !== null && !run && !error && <Loading />}
      {run && isActive(run.state) && <Progress run={run} title={texts.advise.running} />}
      {run?.state === "failed" && <Failure title={texts.advise.failed} message={run.error ?? ""} />}
      {run?.state === "cancelled" && <p className="calm">{texts.advise.cancelled}</p>}
      {run?.state === "done" && run.result && <Found file={file} recipe={run.recipe} found={run.result as Advice} methods={catalog.methods} steps={catalog.steps} />}
      {!(run && isActive(run.state)) && (
        <Section title={id === null ? texts.advise.open : texts.advise.again}>
          <form
            className="fields"
            noValidate
            onSubmit={(event) => {
              event.preventDefault();
              void start();
            }}
          >
            <label className={`field${people === null ? " wrong" : ""}`}>
              <span>{texts.advise.k}</span>
              <input type="text" inputMode="numeric" autoComplete="off" value={k} aria-invalid={people === null || undefined} data-testid="advise-k" onChange={(event) => setK(event.currentTarget.value)} />
            </label>
            <label className="field">
              <span>{texts.advise.use}</span>
              <select value={use} data-testid="advise-use" onChange={(event) => setUse(event.currentTarget.value)}>
                {Object.entries(texts.advise.uses).map(([name, text]) => (
                  <option key={name} value={name}>
                    {text}
                  </option>
                ))}
              </select>
            </label>
            <label className="field">
              <span>{texts.advise.risk}</span>
              <input type="range" min={0.01} max={1} step={0.01} value={limit} aria-valuetext={formatPercent(limit)} data-testid="advise-risk" onChange={(event) => setRisk(Number(event.currentTarget.value))} />
              <span className="help">{texts.advise.riskNow(formatPercent(limit), risk === null)}</span>
            </label>
            <label className={`field${budget === null ? " wrong" : ""}`}>
              <span>{texts.advise.budget}</span>
              <input type="text" inputMode="numeric" autoComplete="off" value={minutes} aria-invalid={budget === null || undefined} data-testid="advise-minutes" onChange={(event) => setMinutes(event.currentTarget.value)} />
            </label>
            <button type="submit" className="button primary" data-testid="advise-start" disabled={people === null || budget === null || inspection.loading}>
              {texts.advise.start}
            </button>
          </form>
          {failed && <Failure message={failed} />}
        </Section>
      )}
    </>
  );
}

function Found({ file, recipe, found, methods, steps }: { file: string; recipe: Recipe; found: Advice; methods: Method[]; steps: Step[] }) {
  const tried = found.settings.filter((one) => one.loss !== null);
  const measured = tried.filter((one) => one.risk !== null);
  const rows = found.whole_file ? "the whole file" : `a sample of ${found.rows.toLocaleString("en-US")} rows`;
  const resolution = `${found.resolution.metres.toLocaleString("en-US")} m and ${found.resolution.minutes.toLocaleString("en-US")} min`;
  const take = async (setting: Advice["settings"][number]) => {
    draftOfRun({ recipe: { ...recipe, prepare: setting.prepare, method: setting.method } }, methods, steps, await api.files().catch(() => []));
    goTo("parameters", file, setting.method.name);
  };
  return (
    <>
      <div className={found.recommended === null ? "warning" : "card"} role="status" data-testid="advice">
        <h2>{found.recommended === null ? texts.advise.none : texts.advise.recommended}</h2>
        <p>{found.reason}</p>
        {found.out_of_time && <p className="quiet">{texts.advise.outOfTime}</p>}
      </div>
      {tried.length > 0 && (
        <Section title={texts.advise.frontier} lead={texts.advise.frontierLead(found.tried, rows, resolution)}>
          {measured.length > 1 && (
            <figure className="chart frontier" data-testid="frontier">
              <FrontierView
                spots={measured.map((one) => ({
                  name: String(one.number),
                  title: `${one.number}: ${one.setting}`,
                  risk: one.risk?.mean ?? 0,
                  loss: one.loss?.value ?? 1,
                  dominated: !one.on_frontier,
                  chosen: one.number === found.recommended,
                }))}
                raw={measured.reduce<number | null>((most, one) => (one.risk?.mean_raw == null ? most : Math.max(most ?? 0, one.risk.mean_raw)), null)}
                limit={found.max_risk}
                riskLabel={texts.advise.riskOf.toLowerCase()}
                lossLabel={texts.advise.loss.toLowerCase()}
                percent
              />
            </figure>
          )}
          <div className="scroll" tabIndex={0} role="region" aria-label={texts.advise.frontier}>
            <table className="tried">
              <thead>
                <tr>
                  <th scope="col">{texts.advise.setting}</th>
                  <th scope="col">{texts.advise.kept}</th>
                  <th scope="col">{texts.advise.loss}</th>
                  <th scope="col">{texts.advise.riskOf}</th>
                  <th scope="col">
                    <span className="quiet small">{texts.advise.choose}</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {tried.map((one) => (
                  <tr key={one.number} className={one.number === found.recommended ? "taken" : one.on_frontier ? "" : "beaten"} data-testid="advice-row">
                    <td>
                      <strong>{one.number}</strong> {one.setting}
                      {one.weaker && <span className="tag">{texts.advise.weaker(one.weaker)}</span>}
                      {!one.on_frontier && <span className="quiet small"> ({texts.advise.dominated})</span>}
                    </td>
                    <td className="number">{formatPercent(one.shares.trips ?? 0)}</td>
                    <td className="number">{formatPercent(one.loss?.value ?? 1)}</td>
                    <td className={(one.risk?.mean ?? 0) > found.max_risk ? "above" : ""}>
                      {one.risk ? formatPercent(one.risk.mean) : "–"}
                      {one.risk?.largest !== null && one.risk && <span className="quiet small"> {texts.advise.largest} {formatPercent(one.risk.largest)}</span>}
                    </td>
                    <td>
                      <button type="button" className={`button${one.number === found.recommended ? " primary" : ""}`} data-testid={`take-${one.number}`} onClick={() => take(one)}>
                        {texts.advise.take}
                      </button>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </Section>
      )}
    </>
  );
}

interface Beginning {
  prepare: Recipe["prepare"];
  method: NonNullable<Recipe["method"]>;
}

/** Where the search begins: with what `inspect` would run, else with the first method for this kind of data. */
function beginning(draft: Draft, { methods, steps }: Catalog, inspected: Recipe | null): Beginning | null {
  const kind = draft.kind;
  if (kind === null) return null;
  // The parameters are those to begin with: what inspect would run without a trial is the coarsest that there is.
  if (inspected?.method) return { prepare: inspected.prepare, method: { ...inspected.method, ...(suggestions[inspected.method.name] ?? {}) } };
  const ranked = [...methods].sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
  const first = ranked.find((one) => takes(one, kind)) ?? ranked.find((one) => isReachable(kind, one, steps));
  if (!first) return null;
  const needed = neededSteps(kind, first, steps).map((step) => ({ step, ...(suggestions[step] ?? {}) }));
  return { prepare: needed, method: { name: first.name, ...(suggestions[first.name] ?? {}) } };
}

/** The same method for another number of people: k, or m where a method counts so. */
function withPeople(method: NonNullable<Recipe["method"]>, methods: Method[], people: number): NonNullable<Recipe["method"]> {
  const names = methods.find((one) => one.name === method.name)?.parameters.map((p) => p.name) ?? [];
  const name = ["k", "m"].find((one) => names.includes(one));
  return name ? { ...method, [name]: people } : method;
}

function wholeIn(text: string, most: number): number | null {
  const number = Number(text.trim());
  return /^[0-9]{1,6}$/.test(text.trim()) && number >= 1 && number <= most ? number : null;
}
