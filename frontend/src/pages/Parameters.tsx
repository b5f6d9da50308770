import { useEffect, useState } from "preact/compat";
import { ApiError, api, type Claim, type Method, type Parameter, type Step } from "../api";
import { type ChosenStep, type Measured, methodValues, publishRecipe, useDraft } from "../draft";
import { type Filled, type FormValue, type FormValues, fill, valuesOf } from "../forms";
import { lookOf, messageOf, previewKey, previewOf, useAsked, useCatalog } from "../hooks";
import { Field } from "../parts/Field";
import { ClaimView, ColumnsFirst, Failure, Foot, Head, Loading, Section } from "../parts/Parts";
import { SideFile } from "../parts/Upload";
import { goTo, linkTo } from "../route";
import { addable, kindsAlong, neededFiles, neededSteps, withStep, takes } from "../steps";
import { texts } from "../texts";
import { words } from "../words";

export function Parameters({ file, name }: { file: string; name: string }) {
  const catalog = useCatalog();
  const [draft] = useDraft(file);
  const method = catalog.value?.methods.find((one) => one.name === name);
  if (draft.kind === null) return <ColumnsFirst file={file} />;
  return (
    <>
      {catalog.error && <Failure message={catalog.error} again={catalog.again} />}
      {catalog.loading && !catalog.value && <Loading />}
      {catalog.value && method && <Form key={`${file} ${name}`} file={file} method={method} steps={catalog.value.steps} />}
      {catalog.value && !method && (
        <Failure message={texts.method.title}>
          <a className="button" href={linkTo("method", file)}>
            {texts.parameters.back}
          </a>
        </Failure>
      )}
    </>
  );
}

function Form({ file, method, steps }: { file: string; method: Method; steps: Step[] }) {
  const [draft, change] = useDraft(file);
  const [touched, setTouched] = useState<Set<string>>(new Set());
  const [refused, setRefused] = useState<{ field: string; message: string } | null>(null);
  const [starting, setStarting] = useState(false);
  const asked = lookOf(draft);
  const preview = useAsked(previewKey(file, asked), () => previewOf(file, asked));
  const attributes = preview.value?.attributes ?? {};
  const kind = draft.kind ?? method.accepts;

  const values = methodValues(draft, method);
  const filled = fill(method.parameters, values);
  const chosen = draft.steps.map((one) => {
    const declared = steps.find((step) => step.name === one.step);
    const shown = valuesOf(one.step, declared?.parameters ?? [], one.values);
    return { ...one, declared, shown, filled: fill(declared?.parameters ?? [], shown) };
  });
  const kinds = kindsAlong(kind, draft.steps, steps);
  const fits = takes(method, kinds[kinds.length - 1]);
  const files = neededFiles(kind, draft.steps.map((one) => one.step), draft);
  const lacking = files.filter((one) => !one.there).map((one) => texts.side.words[one.role]);
  const needed = neededSteps(kind, method, steps);
  const seedWrong = draft.seed.trim() !== "" && !/^[0-9]{1,15}$/.test(draft.seed.trim());
  const wrong = Object.keys(filled.errors).length + chosen.reduce((n, one) => n + Object.keys(one.filled.errors).length, 0) + (seedWrong ? 1 : 0);

  const claim = useClaim(method, filled.values, wrong === 0);
  const errorOf = (field: string, found: string | undefined): string | undefined =>
    refused?.field === field ? refused.message : touched.has(field) || touched.has("all") ? found : undefined;
  const touch = (field: string) => {
    setTouched((old) => new Set(old).add(field));
    setRefused(null);
  };
  const set = (parameter: string, value: FormValue) => {
    touch(parameter);
    if (method.parameters.find((p) => p.name === parameter)?.kind === "sensitive") change({ sensitive: value as Record<string, string[]> });
    else change({ values: { ...draft.values, [method.name]: { ...(draft.values[method.name] ?? {}), [parameter]: value } } });
  };
  const setStep = (key: number, parameter: string, value: FormValue) => {
    touch(`${key}.${parameter}`);
    change({ steps: draft.steps.map((one) => (one.key === key ? { ...one, values: { ...one.values, [parameter]: value } } : one)) });
  };

  const start = async () => {
    setTouched(new Set(["all"]));
    setRefused(null);
    if (wrong || lacking.length || !fits) {
      window.setTimeout(() => document.querySelector<HTMLElement>("[aria-invalid=true], .field.wrong input")?.focus());
      return;
    }
    setStarting(true);
    const recipe = publishRecipe(
      file,
      draft,
      method,
      filled,
      chosen.map((one) => ({ step: one.step, ...one.filled })),
    );
    try {
      const title = draft.title.trim() || texts.parameters.title0(method.name, titleOf(filled.values));
      const { id } = await api.start("publish", title, recipe);
      goTo("run", id, file);
    } catch (failed) {
      setRefused(placed(messageOf(failed), method, draft.steps));
      setStarting(false);
    }
  };

  const main = method.parameters.filter((p) => p.required || p.kind === "sensitive" || ["k", "c", "p"].includes(p.name));
  const more = method.parameters.filter((p) => !main.includes(p));
  const moreWrong = more.some((p) => errorOf(p.name, filled.errors[p.name]));
  const formats = method.publishes === "points" || method.publishes === "regions" ? ["csv", "parquet", "geojson"] : ["csv", "parquet"];
  const keepable = Object.keys(attributes);

  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
    >
      <Head title={texts.parameters.title(method.name)} lead={texts.parameters.lead} />
      <div className="beside">
        <div className="beside-main">
          <Section title={texts.parameters.method} lead={texts.method.outcome[method.name]}>
            <div className="fields">
              {main.map((p) => (
                <Field key={p.name} p={p} value={values[p.name]} error={errorOf(p.name, filled.errors[p.name])} change={(value) => set(p.name, value)} attributes={attributes} />
              ))}
            </div>
            {more.length > 0 && (
              <details className="fold" open={moreWrong || undefined}>
                <summary>
                  {texts.parameters.more} <span className="quiet">{texts.parameters.moreHint}</span>
                </summary>
                <div className="fields">
                  {more.map((p) => (
                    <Field key={p.name} p={p} value={values[p.name]} error={errorOf(p.name, filled.errors[p.name])} change={(value) => set(p.name, value)} attributes={attributes} />
                  ))}
                </div>
              </details>
            )}
          </Section>

          <Section title={texts.parameters.prepare} lead={draft.steps.length ? texts.parameters.prepareLead : texts.parameters.prepareNone}>
            {chosen.length > 0 && (
              <ol className="chain">
                {chosen.map((one, i) => (
                  <li key={one.key} className="card" data-testid={`step-${one.step}`}>
                    <div className="chain-head">
                      <h3>
                        {one.step}
                        {needed.includes(one.step) && <span className="tag">{texts.parameters.needed}</span>}
                      </h3>
                      <div>
                        {i > 0 && (
                          <button type="button" className="quiet-button" aria-label={texts.parameters.earlier(one.step)} onClick={() => change({ steps: swapped(draft.steps, i) })}>
                            ↑
                          </button>
                        )}
                        <button type="button" className="quiet-button" aria-label={texts.parameters.remove(one.step)} onClick={() => change({ steps: draft.steps.filter((other) => other.key !== one.key) })}>
                          ✕
                        </button>
                      </div>
                    </div>
                    <p className="quiet small">{one.declared?.summary}</p>
                    <StepFields one={one} errorOf={errorOf} change={(parameter, value) => setStep(one.key, parameter, value)} />
                  </li>
                ))}
              </ol>
            )}
            {!fits && (
              <p className="field-error" role="alert">
                {texts.parameters.badChain}
              </p>
            )}
            <AddStep choices={fits ? addable(kind, draft.steps, steps) : steps} add={(step) => change({ steps: withStep(kind, draft.steps, steps, step) })} />
            {files.length > 0 && (
              <>
                <h3>{texts.parameters.files}</h3>
                {files.map(({ role }) => (
                  <SideFile key={role} role={role} chosen={draft.side[role]} choose={(one) => change({ side: { ...draft.side, [role]: one } })} />
                ))}
              </>
            )}
          </Section>

          <Section title={texts.parameters.output}>
            <div className="fields">
              <label className="field">
                <span>{texts.parameters.format}</span>
                <select value={draft.format} onChange={(event) => change({ format: event.currentTarget.value })} data-testid="format">
                  {formats.map((format) => (
                    <option key={format} value={format}>
                      {texts.parameters.formats[format]}
                    </option>
                  ))}
                </select>
              </label>
              <label className="field">
                <span>{texts.parameters.runTitle}</span>
                <input type="text" maxLength={120} value={draft.title} onChange={(event) => change({ title: event.currentTarget.value })} aria-describedby="title-help" />
                <span className="help" id="title-help">
                  {texts.parameters.runTitleHelp}
                </span>
              </label>
            </div>
            {keepable.length > 0 && (
              <fieldset className="field">
                <legend>{texts.parameters.keep}</legend>
                <p className="help">{texts.parameters.keepLead}</p>
                <div className="checks">
                  {keepable.map((attribute) => (
                    <label className="check" key={attribute}>
                      <input
                        type="checkbox"
                        checked={draft.keep.includes(attribute)}
                        onChange={(event) => change({ keep: event.currentTarget.checked ? [...draft.keep, attribute] : draft.keep.filter((other) => other !== attribute) })}
                      />
                      <span dir="auto">{attribute}</span>
                    </label>
                  ))}
                </div>
              </fieldset>
            )}
            {Object.keys(draft.measured).length > 0 && (
              <p data-testid="measured">
                {texts.recipe.measured} {measuredWords(draft.measured)}.{" "}
                <button type="button" className="quiet-button" onClick={() => change({ measured: {} })}>
                  {texts.recipe.usual}
                </button>
              </p>
            )}
            <details className="fold" open={(seedWrong && touched.has("all")) || undefined}>
              <summary>{texts.parameters.advanced}</summary>
              <div className="fields">
                <label className={`field${seedWrong ? " wrong" : ""}`}>
                  <span>{texts.parameters.seed}</span>
                  <input type="text" inputMode="numeric" autoComplete="off" value={draft.seed} aria-invalid={seedWrong || undefined} aria-describedby="seed-help" data-testid="seed" onChange={(event) => change({ seed: event.currentTarget.value })} />
                  <span className="help" id="seed-help">
                    {texts.parameters.seedHelp}
                  </span>
                  {seedWrong && <span className="field-error">{texts.forms.whole}</span>}
                </label>
                <div className="field">
                  <label className="check">
                    <input type="checkbox" checked={draft.withRaw} onChange={(event) => change({ withRaw: event.currentTarget.checked })} />
                    <span>{texts.parameters.withRaw}</span>
                  </label>
                  <p className="help">{texts.parameters.withRawHelp}</p>
                </div>
              </div>
            </details>
          </Section>
        </div>
        <aside className="beside-aside" aria-label={texts.parameters.promise}>
          <h2>{texts.parameters.promise}</h2>
          <ClaimView claim={claim ?? { ...method, promise: method.promise.replace("ATTRIBUTE: VALUE", texts.method.exampleValue) }} compact />
          {!claim && <p className="quiet small">{texts.method.promise}</p>}
        </aside>
      </div>

      {refused && refused.field === "" && <Failure message={refused.message} />}
      {refused && refused.field !== "" && <Failure message={refused.message} title={texts.parameters.fix(1)} />}
      {touched.has("all") && wrong > 0 && (
        <p className="field-error" role="alert">
          {texts.parameters.fix(wrong)}
        </p>
      )}
      {lacking.length > 0 && <p className="warning">{texts.parameters.lacks(lacking.join(", "))}</p>}
      <Foot
        back={
          <a className="button" href={linkTo("method", file)}>
            {texts.parameters.back}
          </a>
        }
      >
        <button type="submit" className="button primary" data-testid="run-button" disabled={starting || lacking.length > 0 || !fits}>
          {starting ? texts.parameters.starting : texts.parameters.start}
        </button>
      </Foot>
    </form>
  );
}

interface ShownStep extends ChosenStep {
  declared: Step | undefined;
  shown: FormValues;
  filled: Filled;
}

/** The settings of a step; where there are many, those with a default are folded away. */
function StepFields({
  one,
  errorOf,
  change,
}: {
  one: ShownStep;
  errorOf: (field: string, found: string | undefined) => string | undefined;
  change: (parameter: string, value: FormValue) => void;
}) {
  const all = one.declared?.parameters ?? [];
  const optional = all.filter((p) => !p.required);
  const folded = optional.length > 3 ? optional : [];
  const field = (p: Parameter) => (
    <Field
      key={p.name}
      p={p}
      value={one.shown[p.name]}
      error={errorOf(`${one.key}.${p.name}`, one.filled.errors[p.name])}
      change={(value) => change(p.name, value)}
      prefix={`${one.step}-`}
    />
  );
  const wrong = folded.some((p) => errorOf(`${one.key}.${p.name}`, one.filled.errors[p.name]));
  return (
    <>
      {all.length > folded.length && <div className="fields">{all.filter((p) => !folded.includes(p)).map(field)}</div>}
      {folded.length > 0 && (
        <details className="fold" open={wrong || undefined}>
          <summary>
            {texts.parameters.moreStep} <span className="quiet">{texts.parameters.moreHint}</span>
          </summary>
          <div className="fields">{folded.map(field)}</div>
        </details>
      )}
    </>
  );
}

function AddStep({ choices, add }: { choices: Step[]; add: (step: string) => void }) {
  if (!choices.length) return null;
  return (
    <label className="field add-step">
      <span>{texts.parameters.add}</span>
      <select value="" onChange={(event) => event.currentTarget.value && add(event.currentTarget.value)} data-testid="add-step">
        <option value="">{texts.parameters.addPick}</option>
        {choices.map((step) => (
          <option key={step.name} value={step.name}>
            {step.name}: {step.summary}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The promise with the numbers of the form, as the server words it; null while it is not known. */
function useClaim(method: Method, values: Record<string, unknown>, ready: boolean): Claim | null {
  const [claim, setClaim] = useState<Claim | null>(null);
  const key = ready ? JSON.stringify(values) : "";
  useEffect(() => {
    if (!key) return;
    let live = true;
    const timer = window.setTimeout(() => {
      api
        .claim({ name: method.name, ...(JSON.parse(key) as Record<string, unknown>) })
        .then((found) => live && setClaim(found))
        .catch((failed) => live && failed instanceof ApiError && setClaim(null));
    }, 250);
    return () => {
      live = false;
      window.clearTimeout(timer);
    };
  }, [method.name, key]);
  return claim;
}

/** The field that a message of the server speaks of, as in "kcl: k must be an integer". */
function placed(message: string, method: Method, steps: ChosenStep[]): { field: string; message: string } {
  const found = /^(?:Recipe: )?([\w-]+): (\w+) /.exec(message);
  if (found && found[1] === method.name && method.parameters.some((p) => p.name === found[2])) return { field: found[2], message };
  const step = found && steps.find((one) => one.step === found[1]);
  return step && found ? { field: `${step.key}.${found[2]}`, message } : { field: "", message };
}

/** The attacks, metrics and limits of a recipe by their names. */
function measuredWords(measured: Measured): string {
  return Object.entries(measured)
    .map(([key, value]) => (Array.isArray(value) ? `${words(key)}: ${value.map((one) => words((one as { name: string }).name)).join(", ")}` : `${words(key)} ${String(value)}`))
    .join("; ");
}

function titleOf(values: Record<string, unknown>): string {
  return Object.entries(values)
    .filter(([, value]) => typeof value !== "object")
    .slice(0, 4)
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(", ");
}

function swapped(steps: ChosenStep[], i: number): ChosenStep[] {
  const found = [...steps];
  [found[i - 1], found[i]] = [found[i], found[i - 1]];
  return found;
}
