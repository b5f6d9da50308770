import { type ReactNode, useState } from "preact/compat";

/** Details that are drawn only when they are looked at. */
export function Fold({ title, about, children }: { title: string; about: string; children: ReactNode }) {
  const [open, setOpen] = useState(false);
  return (
    <details className="part" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {title} <span className="quiet">{about}</span>
      </summary>
      {open && <div className="part-body">{children}</div>}
    </details>
  );
}

/** Charts and a table side by side, as far as there is room. */
export function Flow({ children }: { children: ReactNode }) {
  const [first, ...rest] = (Array.isArray(children) ? children.flat() : [children]) as ReactNode[];
  // The table comes last; beside the first chart it leaves the least room empty.
  const parts = rest.length > 1 ? [first, rest[rest.length - 1], ...rest.slice(0, -1)] : [first, ...rest];
  return (
    <div className="flow">
      {parts.map((part, i) => (
        <div className="cell" key={i}>
          {part}
        </div>
      ))}
    </div>
  );
}
