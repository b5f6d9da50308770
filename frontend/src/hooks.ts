/** Asking the server and waiting for its answers. */
import { useCallback, useEffect, useRef, useState } from "preact/compat";
import { ApiError, api, type Info, type Inspection, isActive, type Method, type Preview, type Run, type Step, type WholeRun } from "./api";
import type { Draft } from "./draft";
import { texts } from "./texts";

export interface Asked<T> {
  value: T | null;
  error: string | null;
  loading: boolean;
  again: () => void;
}

/** The answer to a question; asked again whenever `key` changes. An earlier answer stays until the new one is there. */
export function useAsked<T>(key: string, ask: () => Promise<T>): Asked<T> {
  const [state, setState] = useState<{ key: string; value: T | null; error: string | null; loading: boolean }>({
    key,
    value: null,
    error: null,
    loading: true,
  });
  const [round, setRound] = useState(0);
  const asking = useRef(ask);
  asking.current = ask;
  useEffect(() => {
    let live = true;
    setState((old) => ({ ...old, key, loading: true, error: null }));
    asking
      .current()
      .then((value) => live && setState({ key, value, error: null, loading: false }))
      .catch((error) => live && setState((old) => ({ ...old, key, error: messageOf(error), loading: false })));
    return () => {
      live = false;
    };
  }, [key, round]);
  const again = useCallback(() => setRound((n) => n + 1), []);
  return { value: state.value, error: state.error, loading: state.loading, again };
}

export const messageOf = (error: unknown): string => (error instanceof ApiError ? error.message : texts.errors.broken);

export interface Look {
  columns: Record<string, string>;
  kind: string | null;
  crs: string | null;
  on_duplicate_time: string | null;
  /** How the file is written, where it is no plain table. */
  reading: Record<string, unknown>;
}

/** How a draft looks at its file. */
export const lookOf = (draft: Draft): Look => ({
  columns: draft.columns,
  kind: draft.kind,
  crs: draft.crs,
  on_duplicate_time: draft.duplicates,
  reading: draft.reading,
});

const previews = new Map<string, Preview>();

export const previewKey = (file: string, look: Look): string => JSON.stringify([file, look.kind, look.crs, look.on_duplicate_time, Object.entries(look.columns).sort(), look.reading]);

/** The preview of a file; a file never changes, so the same look is taken once only. */
export async function previewOf(file: string, look: Look): Promise<Preview> {
  const key = previewKey(file, look);
  const { reading, ...plain } = look;
  const isPlain = !Object.keys(reading).some((name) => name !== "guesses");
  const found = previews.get(key) ?? (await (isPlain ? api.preview(file, plain) : api.read(file, { ...plain, ...reading })));
  previews.set(key, found);
  return found;
}

/** The guess of the server, confirmed, gives the same preview again. */
export function rememberPreview(file: string, look: Look, preview: Preview): void {
  previews.set(previewKey(file, look), preview);
}

const inspections = new Map<string, Promise<Inspection>>();

/** What a file is, by what was said of it; the same question is asked once only. */
export function inspectionOf(file: string, said: Record<string, unknown>, settings = false): Promise<Inspection> {
  const key = JSON.stringify([file, said, settings]);
  let found = inspections.get(key);
  if (!found) {
    found = api.inspect(file, said, settings);
    found.catch(() => inspections.delete(key));
    inspections.set(key, found);
  }
  return found;
}

export interface Catalog {
  methods: Method[];
  steps: Step[];
}

let catalog: Promise<Catalog> | null = null;

/** The methods and steps: they do not change while the server runs. */
export function useCatalog(): Asked<Catalog> {
  return useAsked("catalog", () => {
    catalog ??= Promise.all([api.methods(), api.steps()]).then(([methods, steps]) => ({ methods, steps }));
    catalog.catch(() => {
      catalog = null;
    });
    return catalog;
  });
}

export const useInfo = (key: string): Asked<Info> => useAsked(`info ${key}`, api.info);

export interface Followed {
  run: WholeRun | null;
  error: string | null;
}

/** A run, followed until it ends: by events, and by asking every second where these break off. */
export function useRun(id: string | null): Followed {
  const [state, setState] = useState<Followed & { id: string | null }>({ id, run: null, error: null });
  useEffect(() => {
    setState({ id, run: null, error: null });
    if (id === null) return;
    let live = true;
    let events: EventSource | null = null;
    let timer: number | undefined;
    const stop = () => {
      live = false;
      events?.close();
      window.clearTimeout(timer);
    };
    const whole = async (): Promise<void> => {
      try {
        const run = await api.run(id);
        if (!live) return;
        setState({ id, run, error: null });
        if (isActive(run.state)) follow();
      } catch (error) {
        if (!live) return;
        setState((old) => ({ ...old, error: messageOf(error) }));
        if (error instanceof ApiError && error.status === 0) timer = window.setTimeout(whole, 2000);
      }
    };
    const follow = () => {
      events?.close();
      events = new EventSource(`/api/runs/${encodeURIComponent(id)}/events`);
      events.addEventListener("state", (event) => {
        const told = JSON.parse((event as MessageEvent<string>).data) as Run;
        if (!isActive(told.state)) {
          events?.close();
          void whole();
          return;
        }
        setState((old) => ({ ...old, run: old.run && advanced(old.run, told) }));
      });
      events.onerror = () => {
        events?.close();
        if (live) timer = window.setTimeout(whole, 1000);
      };
    };
    void whole();
    return stop;
  }, [id]);
  return state.id === id ? state : { run: null, error: null };
}

/** A run with news: a step that is new ends the one before it. */
function advanced(run: WholeRun, told: Run): WholeRun {
  const steps = [...(run.progress ?? [])];
  if (told.step && steps[steps.length - 1]?.step !== told.step) steps.push({ step: told.step, seconds: null });
  return { ...run, ...told, progress: steps };
}

/** The list of runs, asked for again every two seconds while one of them is active. */
export function useRuns(): Asked<Run[]> {
  const asked = useAsked("runs", api.runs);
  const busy = asked.value?.some((run) => isActive(run.state)) ?? false;
  useEffect(() => {
    if (!busy || asked.loading) return;
    const timer = window.setTimeout(asked.again, 2000);
    return () => window.clearTimeout(timer);
  }, [busy, asked.loading, asked.again]);
  return asked;
}
