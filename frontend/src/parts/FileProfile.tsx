/** What a file is, as `wayveil inspect` says it, and the questions that only its owner can answer. */
import type { Inspection, Question } from "../api";
import { texts } from "../texts";
import { Notes, Section } from "./Parts";

export function FileProfile({ seen }: { seen: Inspection }) {
  const facts = Object.entries(seen.facts).flatMap(([name, value]) => {
    const text = value === null ? "" : (texts.profile.facts[name]?.(Number(value)) ?? "");
    return text ? [text] : [];
  });
  return (
    <Section title={texts.profile.title}>
      <div className="card profile" data-testid="profile">
        <p className="profile-line">
          <strong>{texts.profile.layouts[seen.layout] ?? texts.profile.layouts.unknown}</strong> · {texts.columns.rows(seen.rows)} · {seen.format}
        </p>
        {facts.length > 0 && <p className="quiet">{facts.join(" · ")}</p>}
        {seen.problems.length > 0 && (
          <div className="warning" data-testid="profile-problems">
            <Notes notes={seen.problems} />
          </div>
        )}
        {seen.guesses.length > 0 && (
          <details className="fold">
            <summary>{texts.profile.guesses(seen.guesses.length)}</summary>
            <Notes notes={seen.guesses} />
          </details>
        )}
      </div>
    </Section>
  );
}

interface QuestionsProps {
  seen: Inspection;
  answers: Record<string, unknown>;
  busy: boolean;
  answer: (input: Record<string, unknown>) => void;
}

/** The questions that are left, one at a time: an answer may settle the next. */
export function Questions({ seen, answers, busy, answer }: QuestionsProps) {
  const asked = seen.questions[0];
  const given = Object.keys(answers).length > 0;
  if (!asked && !given) return null;
  return (
    <Section title={asked ? texts.profile.question(seen.questions.length) : texts.profile.answered} lead={asked?.question}>
      {asked && (
        <div className="options" role="group" aria-label={asked.question} aria-busy={busy}>
          {asked.answers.map((one) => (
            <button key={one.option} type="button" className="option" disabled={busy} data-testid={testName(one)} onClick={() => answer(one.input)}>
              <span className="option-title" dir="auto">
                {capital(one.answer)}
              </span>
            </button>
          ))}
        </div>
      )}
      {given && (
        <p>
          <button type="button" className="quiet-button" onClick={() => answer({})}>
            {texts.profile.again}
          </button>
        </p>
      )}
    </Section>
  );
}

/** Answers are named for tests after the option of the command line. */
const testName = ({ option }: Question["answers"][number]): string => `answer-${option.replace(/^--/, "").replace(/[^A-Za-z0-9]+/g, "-")}`;

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
