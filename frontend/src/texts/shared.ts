/** Words that several texts share. */
import type { Kind } from "../api";

export const count = (n: number, one: string, many: string): string => `${n.toLocaleString("en-US")} ${n === 1 ? one : many}`;

export const kinds: Record<Kind, string> = {
  visits: "visits",
  points: "points",
  regions: "boxes",
  routes: "routes",
  stops: "stops",
  trips: "trips",
  counts: "tables of counts",
};
