import { useEffect, useState } from "preact/compat";
import { api, type Column, type DataKind, type Inspection, type Preview } from "../api";
import { type Draft, draftOfInput, riskKey, riskRecipe, saidOf, useDraft } from "../draft";
import { inspectionOf, lookOf, messageOf, previewKey, previewOf, rememberPreview, useAsked } from "../hooks";
import { SensitiveChoice } from "../parts/Field";
import { FileProfile, Questions } from "../parts/FileProfile";
import { Nodes } from "../parts/Nodes";
import { Failure, Foot, Head, Loading, Notes, Section } from "../parts/Parts";
import { SideFile } from "../parts/Upload";
import { goTo, linkTo } from "../route";
import { neededFiles } from "../steps";
import { texts } from "../texts";

const KINDS: DataKind[] = ["visits", "points", "trips", "routes", "stops"];
const ROLES: Record<DataKind, string[]> = {
  visits: ["traj_id", "user_id", "t", "location"],
  points: ["traj_id", "user_id", "t", "x", "y", "geometry"],
  routes: ["traj_id", "user_id", "seq", "road", "t"],
  stops: ["traj_id", "user_id", "t", "seq", "place", "t_end"],
  trips: ["traj_id", "user_id", "t_start", "origin", "origin_x", "origin_y", "t_end", "destination", "destination_x", "destination_y"],
};
const MOST_DISTINCT = 1000; // the server counts no further
const SAME: Record<string, string> = { lon: "x", lat: "y", ignored: "attribute" };

export function Columns({ file }: { file: string }) {
  const [draft, change] = useDraft(file);
  const asked = lookOf(draft);
  const preview = useAsked(previewKey(file, asked), () => previewOf(file, asked));
  // What is chosen by hand is looked at like an answer; tables of routes and stops are not inspected.
  const said = draft.kind === "visits" || draft.kind === "points" || draft.kind === "trips" ? saidOf(file, draft) : draft.answers;
  const found = preview.value;
  const isTable = (found?.columns.length ?? 0) > 0; // what is no table has nothing to be inspected
  const inspection = useAsked(`inspect ${file} ${isTable} ${JSON.stringify(said)}`, async () => (isTable ? inspectionOf(file, said) : null));
  const files = useAsked(`name ${file}`, api.files);
  const name = files.value?.find((one) => one.id === file)?.name ?? "";
  const seen = inspection.value;
  const settled = found !== null && isSettled(found);

  // The first look decides the kind and the columns where their names say it all; else the inspection does, as soon as no
  // question is left. From then on the draft decides.
  useEffect(() => {
    if (!found || draft.kind !== null) return;
    if (!settled && seen?.run) return change(draftOfInput(seen.run.recipe.input));
    const last = inspection.error !== null || (seen !== null && !inspection.loading && !seen.questions.length);
    if (found.kind === null || !(settled || last)) return;
    const first = { kind: found.kind, columns: found.mapping ?? {} };
    rememberPreview(file, { ...asked, ...first }, found);
    change(first);
  }, [found, settled, seen, inspection.error, inspection.loading, draft.kind, change, file]);

  const answer = (input: Record<string, unknown>) => change({ answers: input, kind: null, columns: {}, reading: {}, person: null, crs: null });
  const unsettled = draft.kind === null && !settled;
  // What is said of a table without movements holds where the names of its columns do not say otherwise.
  const refusal = draft.kind === "routes" || draft.kind === "stops" ? null : (seen?.cannot_be_published ?? null);
  return (
    <>
      <Head title={texts.columns.title} lead={name && texts.columns.lead(name)} />
      {preview.error && <Failure message={preview.error} again={preview.again} />}
      {!found && !preview.error && <Loading />}
      {found && !found.columns.length && (
        <Failure title={texts.columns.unreadable} message={found.problems.join(" ")}>
          <a className="button" href={linkTo("files")}>
            {texts.columns.another}
          </a>
        </Failure>
      )}
      {found && found.columns.length > 0 && (
        <>
          {seen && <FileProfile seen={seen} />}
          {!seen && inspection.loading && unsettled && <Loading />}
          {refusal && <Failure title={texts.profile.refused} message={refusal} />}
          {seen && unsettled && <Questions seen={seen} answers={draft.answers} busy={inspection.loading} answer={answer} />}
          <Read file={file} draft={draft} change={change} found={found} busy={preview.loading} seen={seen} refused={refusal !== null} />
        </>
      )}
    </>
  );
}

/** Whether the columns have the names that Wayveil gives them, and nothing is wrong: then there is nothing to ask. */
function isSettled(found: Preview): boolean {
  if (Object.keys(found.mapping ?? {}).length > 0) return false;
  const wrong = found.problems.length > 0 || found.columns.some((column) => column.problems.length > 0);
  return found.kind !== null && !wrong && missingRoles(found.kind, found, rolesOf(found, {}, found.kind)).length === 0;
}

interface ReadProps {
  file: string;
  draft: Draft;
  change: (part: Partial<Draft>) => void;
  found: Preview;
  busy: boolean;
  seen: Inspection | null;
  refused: boolean;
}

function Read({ file, draft, change, found, busy, seen, refused }: ReadProps) {
  const [starting, setStarting] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const [pending, setPending] = useState<DataKind | null>(null);
  const kind = draft.kind;
  const roles = rolesOf(found, draft.columns, kind);
  const lacking = kind ? missingRoles(kind, found, roles) : [];
  const files = neededFiles(kind, [], draft);
  const lackingFiles = files.filter((one) => !one.there).map((one) => texts.side.words[one.role]);
  const notes = found.notes ?? [];
  const mapping = mappingOf(found, draft.columns);
  const named = found.columns.some((column) => column.role === "user_id") || mapping.user_id !== undefined;
  const answered = named || draft.person === "each" || (draft.person === "table" && draft.owners.length > 0);
  // What the columns could be is asked below, in words for this page.
  // While the inspection asks, its questions come first: what the names of the columns leave open is no problem yet.
  const asking = kind === null && (seen?.questions.length ?? 0) > 0;
  const problems = asking ? [] : found.problems.filter((problem) => !/^The columns fit (neither|both)/.test(problem));
  const ready = kind !== null && answered && !lacking.length && !lackingFiles.length && !busy && pending === null && !refused;

  const setKind = async (chosen: DataKind) => {
    setPending(chosen);
    try {
      // The columns are guessed afresh for another kind.
      const guess = await previewOf(file, { ...lookOf(draft), kind: chosen, columns: {} });
      rememberPreview(file, { ...lookOf(draft), kind: chosen, columns: guess.mapping ?? {} }, guess);
      change({ kind: chosen, columns: guess.mapping ?? {} });
    } catch {
      change({ kind: chosen, columns: {} });
    }
    setPending(null);
  };
  const setRole = (column: string, role: string) => {
    const columns = { ...mappingOf(found, draft.columns) };
    for (const [ours, theirs] of Object.entries(columns)) if (theirs === column || ours === role) delete columns[ours];
    if (role === "attribute") return change({ columns });
    // What is no attribute any more is neither sensitive nor published along.
    const { [column]: _, ...sensitive } = draft.sensitive;
    if (role === "user_id") change({ person: null });
    change({ columns: { ...columns, [role]: column }, sensitive, keep: draft.keep.filter((kept) => kept !== column) });
  };
  const toRisk = async () => {
    setStarting(true);
    setError(null);
    try {
      const { id } = await api.start("risk", "", riskRecipe(file, draft));
      change({ risk: { run: id, of: riskKey(file, draft) } });
      goTo("risk", file, id);
    } catch (failed) {
      setError(messageOf(failed));
      setStarting(false);
    }
  };

  return (
    <>
      {problems.length > 0 && (
        <div className="warning" role="alert" data-testid="problems">
          <h2>{texts.columns.problemsTitle}</h2>
          <Notes notes={problems} />
          <Remedies problems={problems} change={change} />
        </div>
      )}
      <Section title={texts.columns.kind} lead={kind !== null ? undefined : asking ? texts.columns.byHand : texts.columns.unknownKind}>
        <div className="options" role="radiogroup" aria-label={texts.columns.kind}>
          {KINDS.map((one) => (
            <label key={one} className={`option${(pending ?? kind) === one ? " chosen" : ""}`}>
              <input type="radio" name="kind" value={one} checked={(pending ?? kind) === one} disabled={pending !== null} onChange={() => setKind(one)} data-testid={`kind-${one}`} />
              <span className="option-title">{texts.kindOptions[one].title}</span>
              <span className="option-about">{texts.kindOptions[one].about}</span>
              {found.kind === one && <span className="tag">{texts.columns.guessed}</span>}
            </label>
          ))}
        </div>
        {files.map(({ role }) => (
          <SideFile key={role} role={role} chosen={draft.side[role]} choose={(chosen) => change({ side: { ...draft.side, [role]: chosen } })} />
        ))}
      </Section>

      {kind && !lacking.length && <Person draft={draft} change={change} found={found} mapping={mapping} />}
      {!kind && (
        <Section title={texts.columns.preview}>
          <Rows found={found} roles={roles} />
        </Section>
      )}
      {kind && (
        <Section title={texts.columns.table} lead={found.rows !== null ? texts.columns.rows(found.rows) : found.at_least ? texts.columns.atLeast(found.at_least) : undefined}>
          <div className="column-list" aria-busy={busy || pending !== null}>
            {found.columns.map((column) => (
              <ColumnRow key={column.name} column={column} role={roles[column.name]} kind={kind} disabled={pending !== null} change={(role) => setRole(column.name, role)} />
            ))}
          </div>
          {lacking.length > 0 && <p className="warning">{texts.columns.lacks(lacking.map((role) => texts.columns.roles[role]).join(", "))}</p>}
          <h3>{texts.columns.preview}</h3>
          <Rows found={found} roles={roles} />
          {notes.length > 0 && (
            <>
              <h3>{texts.columns.notes}</h3>
              <Notes notes={notes} />
            </>
          )}
          <Reading draft={draft} change={change} kind={kind} />
        </Section>
      )}

      {(kind === "visits" || kind === "points") && (
        <Section title={texts.columns.sensitive} lead={Object.keys(found.attributes).length ? texts.columns.sensitiveLead : texts.columns.sensitiveNone}>
          {Object.keys(found.attributes).length > 0 && (
            <SensitiveChoice value={draft.sensitive} attributes={found.attributes} change={(sensitive) => change({ sensitive })} />
          )}
        </Section>
      )}
      {kind === "stops" && draft.side.taxonomy && <Nodes taxonomy={draft.side.taxonomy.id} chosen={draft.sensitiveNodes} change={(sensitiveNodes) => change({ sensitiveNodes })} />}

      {error && <Failure message={error} />}
      {kind && !lacking.length && !answered && <p className="warning">{texts.columns.personLacks}</p>}
      {lackingFiles.length > 0 && <p className="warning">{texts.columns.lacksFile(lackingFiles.join(", "))}</p>}
      <Foot
        back={
          <a className="button" href={linkTo("files")}>
            {texts.columns.another}
          </a>
        }
      >
        {ready && (
          <a className="text-link" href={linkTo("method", file)}>
            {texts.columns.skip}
          </a>
        )}
        <button type="button" className="button primary" data-testid="next" disabled={!ready || starting} onClick={toRisk}>
          {starting ? texts.columns.starting : texts.columns.next}
        </button>
      </Foot>
    </>
  );
}

/** The buttons that do what the messages ask for. */
function Remedies({ problems, change }: { problems: string[]; change: (part: Partial<Draft>) => void }) {
  const told = problems.join(" ");
  const remedies = texts.columns.remedies.filter((remedy) => told.includes(remedy.setting));
  if (!remedies.length) return null;
  return (
    <p className="remedies">
      {remedies.map((remedy) => (
        <button key={remedy.text} type="button" className="button" onClick={() => change(remedy.change)}>
          {remedy.text}
        </button>
      ))}
    </p>
  );
}

/** The question that is never answered for anybody: a column, another table, or the declaration that each is another person. */
function Person({ draft, change, found, mapping }: { draft: Draft; change: (part: Partial<Draft>) => void; found: Preview; mapping: Record<string, string> }) {
  // A column that is called user_id answers it.
  if (found.columns.some((column) => column.name === "user_id") && (mapping.user_id ?? "user_id") === "user_id") return null;
  const likely = [...new Set([...(found.people ?? []), ...(mapping.user_id ? [mapping.user_id] : [])])];
  const { user_id: chosen, ...others } = mapping;
  const options = [
    ...likely.map((name) => ({
      key: `column-${name}`,
      title: texts.columns.personColumn(name),
      about: texts.columns.personColumnAbout,
      checked: draft.person === null && chosen === name,
      choose: () => {
        const { [name]: _, ...sensitive } = draft.sensitive;
        change({ person: null, columns: { ...others, user_id: name }, sensitive, keep: draft.keep.filter((kept) => kept !== name) });
      },
    })),
    ...(["table", "each"] as const).map((key) => ({
      key,
      title: key === "table" ? texts.columns.personTable : texts.columns.personEach,
      about: key === "table" ? texts.columns.personTableAbout : texts.columns.personEachAbout,
      checked: draft.person === key,
      choose: () => change({ person: key, columns: others }),
    })),
  ];
  return (
    <Section title={texts.columns.person} lead={texts.columns.personLead}>
      <div className="options" role="radiogroup" aria-label={texts.columns.person}>
        {options.map((option) => (
          <label key={option.key} className={`option${option.checked ? " chosen" : ""}`}>
            <input type="radio" name="person" value={option.key} checked={option.checked} onChange={option.choose} data-testid={`person-${option.key}`} />
            <span className="option-title" dir="auto">
              {option.title}
            </span>
            <span className="option-about">{option.about}</span>
          </label>
        ))}
      </div>
      <p className="quiet small">{texts.columns.personOther}</p>
      {draft.person === "table" &&
        [...draft.owners, undefined].map((one, i) => (
          <SideFile key={one?.id ?? "another"} role="owners" chosen={one} choose={(file) => change({ owners: file ? [...draft.owners.slice(0, i), file, ...draft.owners.slice(i + 1)] : draft.owners.filter((_, j) => j !== i) })} />
        ))}
    </Section>
  );
}

function ColumnRow({ column, role, kind, disabled, change }: { column: Column; role: string; kind: DataKind; disabled: boolean; change: (role: string) => void }) {
  const facts = [
    column.distinct !== null && column.distinct !== undefined && texts.columns.distinct(column.distinct, MOST_DISTINCT),
    column.missing > 0 && texts.columns.missing(column.missing),
  ].filter(Boolean);
  return (
    <div className={`column-row${column.problems.length ? " odd" : ""}`} data-testid="column-row" data-column={column.name}>
      <div>
        <p className="column-name" dir="auto">
          {column.name}
        </p>
        <p className="quiet small">{facts.join(" · ")}</p>
      </div>
      <p className="examples" dir="auto">
        {column.examples.map((example, i) => (
          <span key={i}>{example}</span>
        ))}
      </p>
      <select aria-label={texts.columns.roleOf(column.name)} value={role} disabled={disabled} onChange={(event) => change(event.currentTarget.value)} className={role === "attribute" ? "" : "used"}>
        {[...ROLES[kind], "attribute"].map((one) => (
          <option key={one} value={one}>
            {texts.columns.roles[one]}
          </option>
        ))}
      </select>
      {column.problems.length > 0 && (
        <ul className="column-problems">
          {column.problems.map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Rows({ found, roles }: { found: Preview; roles: Record<string, string> }) {
  return (
    <div className="scroll table-box" tabIndex={0} role="region" aria-label={texts.columns.previewLabel}>
      <table className="preview">
        <thead>
          <tr>
            {found.columns.map((column) => (
              <th scope="col" key={column.name}>
                <span dir="auto">{column.name}</span>
                {roles[column.name] !== "attribute" && <span className="role">{texts.columns.roles[roles[column.name]]}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {found.preview.map((row, i) => (
            <tr key={i}>
              {row.map((cell, j) => (
                <td key={j} dir="auto">
                  {cell === null ? <span className="quiet">–</span> : String(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Reading({ draft, change, kind }: { draft: Draft; change: (part: Partial<Draft>) => void; kind: DataKind }) {
  return (
    <details className="fold">
      <summary>{texts.columns.reading}</summary>
      <div className="fields">
        {(kind === "points" || kind === "trips") && <Crs value={draft.crs} change={(crs) => change({ crs })} />}
        <Choice
          label={texts.columns.duplicates}
          options={texts.columns.duplicatesOptions}
          value={draft.duplicates ?? ""}
          change={(value) => change({ duplicates: (value || null) as Draft["duplicates"] })}
        />
        <Choice
          label={texts.columns.similarIds}
          options={texts.columns.similarIdsOptions}
          value={draft.similarIds ?? ""}
          change={(value) => change({ similarIds: (value || null) as Draft["similarIds"] })}
          test="similar-ids"
        />
        {kind === "stops" && (
          <Choice
            label={texts.columns.unknown}
            options={texts.columns.unknownOptions}
            value={draft.unknownPlaces}
            change={(value) => change({ unknownPlaces: value as Draft["unknownPlaces"] })}
          />
        )}
      </div>
    </details>
  );
}

function Choice({ label, options, value, change, test }: { label: string; options: Record<string, string>; value: string; change: (value: string) => void; test?: string }) {
  return (
    <label className="field">
      <span>{label}</span>
      <select value={value} onChange={(event) => change(event.currentTarget.value)} data-testid={test}>
        {Object.entries(options).map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Degrees, metres, or any system by its EPSG code. */
function Crs({ value, change }: { value: string | null; change: (crs: string | null) => void }) {
  const words = texts.columns.crsOptions;
  const coded = value !== null && !(value in words);
  const [open, setOpen] = useState(coded);
  const code = coded ? value.replace(/^EPSG:/i, "") : "";
  return (
    <>
      <Choice
        label={texts.columns.crs}
        options={{ ...words, code: texts.columns.crsCode }}
        value={open ? "code" : (value ?? "")}
        change={(chosen) => {
          setOpen(chosen === "code");
          change(chosen === "code" || chosen === "" ? null : chosen);
        }}
        test="crs"
      />
      {open && (
        <label className="field">
          <span>{texts.columns.crsNumber}</span>
          <input
            type="text"
            inputMode="numeric"
            autoComplete="off"
            value={code}
            data-testid="crs-code"
            onChange={(event) => {
              const digits = event.currentTarget.value.replace(/\D/g, "").slice(0, 6);
              change(digits ? `EPSG:${digits}` : null);
            }}
          />
        </label>
      )}
    </>
  );
}

/** The mapping in force: what was chosen, else what was guessed. */
const mappingOf = (found: Preview, chosen: Record<string, string>): Record<string, string> =>
  Object.keys(chosen).length ? chosen : (found.mapping ?? {});

/** The role of each column, as the server reads it; a column that is told twice is what the mapping says. */
function rolesOf(found: Preview, chosen: Record<string, string>, kind: DataKind | null): Record<string, string> {
  const allowed = kind ? ROLES[kind] : [];
  // One column can be the trajectory and the person: it is shown as the trajectory.
  const { user_id: person, ...mapped } = mappingOf(found, chosen);
  const byMapping = new Map([...(person ? [[person, "user_id"] as const] : []), ...Object.entries(mapped).map(([role, column]) => [column, role] as const)]);
  return Object.fromEntries(
    found.columns.map((column) => {
      const role = byMapping.get(column.name) ?? SAME[column.role] ?? column.role;
      return [column.name, allowed.includes(role) ? role : "attribute"];
    }),
  );
}

/** What a kind cannot do without. Files that are no tables tell their columns themselves. */
function missingRoles(kind: DataKind, found: Preview, roles: Record<string, string>): string[] {
  const there = new Set([...Object.values(roles), ...Object.keys(found.mapping ?? {})]);
  const has = (role: string) => there.has(role);
  const needed = kind === "trips" ? ["t_start", "t_end"] : ["traj_id"];
  if (kind === "visits") needed.push("t", "location");
  if (kind === "points") needed.push("t", ...(has("geometry") ? [] : ["x", "y"]));
  if (kind === "routes") needed.push("seq", "road");
  if (kind === "stops") needed.push("place", ...(has("seq") ? [] : ["t"]));
  return needed.filter((role) => !has(role));
}
