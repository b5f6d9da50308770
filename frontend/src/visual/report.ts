/**
 * The script of the report: draws what the page holds as data; text and tables are there without it.
 * The page of `wayveil serve` loads the same file for what it exports, and holds no such data.
 */
import { drawChart, drawFlow, drawFrontier, drawRisks, mount, type Spot } from "./charts";
import { mapOfChart } from "./errorMap";
import { mountMap } from "./map";
import type { ChartData, MapData, RiskRow, StageData } from "./results";
import "./visual.css";

export * from "./layer";

interface Drawn {
  names: [string, string];
  charts: Record<string, ChartData>;
  maps: MapData[];
  risks: RiskRow[];
  flow: StageData[];
  frontier?: { spots: Spot[]; raw: number | null; limit: number | null; riskLabel: string; lossLabel: string; percent: boolean };
}

const held = document.getElementById("drawn");
const drawn: Drawn | null = held ? JSON.parse(held.textContent ?? "null") : null;

function drawInto(target: HTMLElement): void {
  if (!drawn || target.dataset.done) return;
  target.dataset.done = "yes";
  const { visual = "", id = "" } = target.dataset;
  if (visual === "map" && drawn.maps[Number(id)]) mountMap(target, drawn.maps[Number(id)]);
  else if (visual === "risks") mount(target, (width) => drawRisks(drawn.risks, drawn.names, width));
  else if (visual === "flow") mount(target, (width) => drawFlow(drawn.flow, width));
  else if (visual === "frontier" && drawn.frontier) {
    const { spots, ...options } = drawn.frontier;
    mount(target, (width) => drawFrontier(spots, options, width));
  } else if (visual === "chart" && drawn.charts[id]) {
    const chart = drawn.charts[id];
    if (chart.kind === "map") mountMap(target, mapOfChart(chart));
    else mount(target, (width) => drawChart(chart, width));
  }
}

/** Draws what can be seen: what lies in closed details waits until they are opened. */
function drawVisible(): void {
  for (const target of document.querySelectorAll<HTMLElement>("[data-visual]")) {
    if (target.closest("details:not([open])") === null) drawInto(target);
  }
}

/** A link to something in closed details opens them. */
function openTarget(): void {
  const wanted = window.location.hash ? document.getElementById(window.location.hash.slice(1)) : null;
  for (let at = wanted?.closest("details"); at; at = at.parentElement?.closest("details")) at.open = true;
}

if (drawn) {
  document.addEventListener("toggle", drawVisible, true);
  window.addEventListener("hashchange", openTarget);
  openTarget();
  drawVisible();
}
