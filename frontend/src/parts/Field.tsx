/** One parameter as a form shows it: made from its declaration alone. */
import { type ReactNode, useId, useState } from "preact/compat";
import type { Parameter } from "../api";
import { type FormValue, type Group, splitDuration, UNITS } from "../forms";
import { texts } from "../texts";
import { words } from "../words";

interface Props {
  p: Parameter;
  value: FormValue;
  error?: string;
  change: (value: FormValue) => void;
  /** The values of attributes, for parameters that choose among them. */
  attributes?: Record<string, string[]>;
  /** Set where the same name may come twice on a page, as in several steps. */
  prefix?: string;
}

export function Field(props: Props) {
  const { p, error } = props;
  const id = useId();
  const told = p.kind === "choice" || p.help.includes(":") ? words(p.name) : capital(p.help);
  const help = told === capital(p.help) ? "" : p.help;
  const group = p.kind === "sensitive" || p.kind === "groups";
  const described = [help && `${id}help`, `${id}range`, error && `${id}error`].filter(Boolean).join(" ");
  const label = (
    <>
      {told} <code className="quiet">{p.name}</code>
      {p.required && <span className="required"> {texts.forms.required}</span>}
    </>
  );
  const below = (
    <>
      {help && (
        <p className="help" id={`${id}help`}>
          {capital(help)}
        </p>
      )}
      {!group && p.kind !== "choice" && (
        <p className="help range" id={`${id}range`}>
          {rangeOf(p)}
        </p>
      )}
      {error && (
        <p className="field-error" id={`${id}error`}>
          {error}
        </p>
      )}
    </>
  );
  if (group) {
    return (
      <fieldset className={`field${error ? " wrong" : ""}`} data-testid={`param-${props.prefix ?? ""}${p.name}`} aria-describedby={described}>
        <legend>{label}</legend>
        {below}
        {p.kind === "sensitive" ? (
          <SensitiveChoice value={props.value as Record<string, string[]>} attributes={props.attributes ?? {}} change={props.change} />
        ) : (
          <Groups groups={props.value as Group[]} change={props.change} />
        )}
      </fieldset>
    );
  }
  return (
    <div className={`field${error ? " wrong" : ""}`}>
      <label htmlFor={id}>{label}</label>
      <Input {...props} id={id} described={described} />
      {below}
    </div>
  );
}

function Input({ p, value, error, change, id, described, prefix }: Props & { id: string; described: string }): ReactNode {
  const text = value as string;
  const common = { id, "aria-describedby": described, "aria-invalid": error ? true : undefined, "data-testid": `param-${prefix ?? ""}${p.name}` };
  if (p.kind === "choice") {
    return (
      <select {...common} value={text} onChange={(event) => change(event.currentTarget.value)}>
        {p.required && !p.choices.includes(text) && <option value="">{texts.side.pick}</option>}
        {p.choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    );
  }
  if (p.kind === "text" && !p.choices.length) return <input {...common} type="text" value={text} onChange={(event) => change(event.currentTarget.value)} />;
  const word = p.choices.includes(text);
  const typed =
    p.kind === "duration" ? (
      <Duration text={word ? "" : text} change={change} common={common} />
    ) : (
      <input
        {...common}
        type="text"
        inputMode={p.kind === "int" ? "numeric" : p.kind === "text" ? "text" : "decimal"}
        autoComplete="off"
        value={word ? "" : text}
        onChange={(event) => change(event.currentTarget.value)}
      />
    );
  if (!p.choices.length) return typed;
  return (
    <div className="either">
      <select aria-label={texts.forms.wordOr(p.name)} value={word ? text : ""} onChange={(event) => change(event.currentTarget.value)} data-testid={`param-${prefix ?? ""}${p.name}-word`}>
        {p.choices.map((choice) => (
          <option key={choice} value={choice}>
            {texts.forms.words[choice] ?? choice}
          </option>
        ))}
        <option value="">{p.kind === "duration" ? texts.forms.duration0 : p.kind === "text" ? texts.forms.text0 : texts.forms.number0}</option>
      </select>
      {!word && typed}
    </div>
  );
}

function Duration({ text, change, common }: { text: string; change: (value: string) => void; common: Record<string, unknown> }) {
  // A unit that is chosen before the number is typed stays: an empty text does not have it.
  const [early, setEarly] = useState("min");
  const { number, unit } = text === "" ? { number: "", unit: early } : splitDuration(text);
  return (
    <div className="duration">
      <input {...common} type="text" inputMode="numeric" autoComplete="off" value={number} onChange={(event) => change(`${event.currentTarget.value.replace(/\D/g, "")}${unit}`)} />
      <select
        aria-label={texts.forms.unit}
        value={unit}
        onChange={(event) => {
          setEarly(event.currentTarget.value);
          change(`${number}${event.currentTarget.value}`);
        }}
      >
        {UNITS.map((one) => (
          <option key={one} value={one}>
            {texts.forms.units[one]}
          </option>
        ))}
      </select>
    </div>
  );
}

export function SensitiveChoice({
  value,
  attributes,
  change,
}: {
  value: Record<string, string[]>;
  attributes: Record<string, string[]>;
  change: (value: Record<string, string[]>) => void;
}) {
  const names = Object.keys(attributes);
  if (!names.length) return <p className="quiet">{texts.forms.noAttributes}</p>;
  const set = (attribute: string, listed: string[]) => {
    const { [attribute]: _, ...rest } = value;
    change(listed.length ? { ...rest, [attribute]: listed } : rest);
  };
  return (
    <div className="sensitive">
      {names.map((attribute) => {
        const chosen = value[attribute] ?? [];
        return (
          <details key={attribute} open={chosen.length > 0 || names.length === 1} className="attribute">
            <summary>
              <strong>{attribute}</strong> <span className="quiet">{texts.columns.chosen(chosen.length)}</span>
            </summary>
            <div className="checks" role="group" aria-label={attribute}>
              {attributes[attribute].map((one) => (
                <label key={one} className="check">
                  <input
                    type="checkbox"
                    checked={chosen.includes(one)}
                    data-testid={`sensitive-${attribute}-${one}`}
                    onChange={(event) => set(attribute, event.currentTarget.checked ? [...chosen, one] : chosen.filter((other) => other !== one))}
                  />
                  <span dir="auto">{one}</span>
                </label>
              ))}
            </div>
            {attributes[attribute].length >= 50 && <p className="help">{texts.columns.sensitiveMany(attributes[attribute].length)}</p>}
          </details>
        );
      })}
    </div>
  );
}

function Groups({ groups, change }: { groups: Group[]; change: (groups: Group[]) => void }) {
  const id = useId();
  const set = (i: number, part: Partial<Group>) => change(groups.map((group, j) => (i === j ? { ...group, ...part } : group)));
  return (
    <div className="groups">
      {groups.map((group, i) => (
        <div className="group" key={i}>
          <label htmlFor={`${id}n${i}`}>{texts.forms.groupName}</label>
          <input id={`${id}n${i}`} type="text" value={group.name} onChange={(event) => set(i, { name: event.currentTarget.value })} />
          <label htmlFor={`${id}v${i}`}>{texts.forms.groupValues}</label>
          <textarea id={`${id}v${i}`} rows={4} value={group.values} onChange={(event) => set(i, { values: event.currentTarget.value })} />
          {groups.length > 1 && (
            <button type="button" className="quiet-button" onClick={() => change(groups.filter((_, j) => j !== i))}>
              {texts.forms.removeGroup}
            </button>
          )}
        </div>
      ))}
      <button type="button" className="button" onClick={() => change([...groups, { name: "", values: "" }])}>
        {texts.forms.addGroup}
      </button>
    </div>
  );
}

/** What may be filled in, in words. */
function rangeOf(p: Parameter): string {
  if (p.kind === "text" || p.kind === "duration") return "";
  const { wholeRange, numberRange, shareRange, orWords } = texts.forms;
  const range = p.kind === "fraction" ? shareRange : p.kind === "int" ? wholeRange(p.low ?? 0, p.high) : numberRange(p.low ?? 0, p.high);
  return orWords(
    p.unit ? `${range} (${p.unit})` : range,
    p.choices.map((choice) => texts.forms.words[choice] ?? choice),
  );
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
