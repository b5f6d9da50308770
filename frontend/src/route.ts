/** Where one is, kept behind the # of the address, so that a reload keeps the place. */
import { useSyncExternalStore } from "preact/compat";

export type Page = "files" | "columns" | "risk" | "method" | "advise" | "parameters" | "run" | "report" | "runs" | "compare";

export interface Route {
  page: Page;
  parts: string[];
}

const PAGES: Page[] = ["files", "columns", "risk", "method", "advise", "parameters", "run", "report", "runs", "compare"];

export function routeOf(hash: string): Route {
  const [name, ...parts] = hash.replace(/^#\/?/, "").split("/").filter(Boolean).map(decoded);
  return { page: PAGES.find((page) => page === name) ?? "files", parts };
}

export const linkTo = (page: Page, ...parts: string[]): string => `#/${[page, ...parts.map(encodeURIComponent)].join("/")}`;

export const goTo = (page: Page, ...parts: string[]): void => {
  window.location.hash = linkTo(page, ...parts);
};

/** The same as goTo, but "back" does not lead to the page that is left. */
export const replaceBy = (page: Page, ...parts: string[]): void => {
  window.location.replace(linkTo(page, ...parts));
};

export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, () => window.location.hash);
  return routeOf(hash);
}

function subscribe(changed: () => void): () => void {
  window.addEventListener("hashchange", changed);
  return () => window.removeEventListener("hashchange", changed);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
