/** The nodes of the taxonomy that are sensitive: those that the file marks, and those that are ticked. */
import { useMemo, useState } from "preact/compat";
import { api } from "../api";
import { useAsked } from "../hooks";
import { texts } from "../texts";
import { Section } from "./Parts";

interface Node {
  name: string;
  parent: string | null;
  sensitive: boolean;
}

const MOST_SHOWN = 200;

export function Nodes({ taxonomy, chosen, change }: { taxonomy: string; chosen: string[]; change: (nodes: string[]) => void }) {
  const preview = useAsked(`taxonomy ${taxonomy}`, () => api.preview(taxonomy));
  const [wanted, setWanted] = useState("");
  const nodes = useMemo(() => preview.value?.nodes ?? [], [preview.value]);
  const paths = useMemo(() => pathsOf(nodes), [nodes]);
  if (!nodes.length) return null;
  const parents = new Set(nodes.map((node) => node.parent));
  const inner = nodes.filter((node) => parents.has(node.name));
  // Without a search the kinds of places are listed; a search looks at every node.
  const text = wanted.trim().toLowerCase();
  const fitting = text ? nodes.filter((node) => node.name.toLowerCase().includes(text)) : inner.length ? inner : nodes;
  const ticked = nodes.filter((node) => chosen.includes(node.name) && !fitting.slice(0, MOST_SHOWN).includes(node));
  const listed = [...ticked, ...fitting.slice(0, MOST_SHOWN)];
  return (
    <Section title={texts.columns.nodes} lead={texts.columns.nodesLead}>
      <label className="field">
        <span>{texts.columns.nodesSearch(nodes.length)}</span>
        <input type="search" autoComplete="off" value={wanted} data-testid="nodes-search" onChange={(event) => setWanted(event.currentTarget.value)} />
      </label>
      <div className="checks">
        {listed.map((node) => (
          <label key={node.name} className="check">
            <input
              type="checkbox"
              data-testid={`node-${node.name}`}
              checked={node.sensitive || chosen.includes(node.name)}
              disabled={node.sensitive}
              onChange={(event) => change(event.currentTarget.checked ? [...chosen, node.name] : chosen.filter((other) => other !== node.name))}
            />
            <span dir="auto">
              {node.name} <span className="quiet small">{node.sensitive ? texts.columns.nodesMarked : text ? paths.get(node.name) : ""}</span>
            </span>
          </label>
        ))}
      </div>
      {!listed.length && <p className="quiet">{texts.columns.nodesNone}</p>}
      {fitting.length > MOST_SHOWN && <p className="help">{texts.columns.nodesMore(fitting.length - MOST_SHOWN)}</p>}
    </Section>
  );
}

/** What is above each node, from the top. */
function pathsOf(nodes: Node[]): Map<string, string> {
  const parent = new Map(nodes.map((node) => [node.name, node.parent]));
  const found = new Map<string, string>();
  for (const node of nodes) {
    const above: string[] = [];
    for (let one = node.parent; one && above.length < 20; one = parent.get(one) ?? null) above.unshift(one);
    found.set(node.name, above.join(" › "));
  }
  return found;
}
