/** Maps with OpenLayers on canvas: raw and published beside each other, their difference, and time. */
import Feature from "ol/Feature.js";
import OlMap from "ol/Map.js";
import View from "ol/View.js";
import ScaleLine from "ol/control/ScaleLine.js";
import Zoom from "ol/control/Zoom.js";
import type { Extent } from "ol/extent.js";
import Circle from "ol/geom/Circle.js";
import LineString from "ol/geom/LineString.js";
import MultiLineString from "ol/geom/MultiLineString.js";
import MultiPolygon from "ol/geom/MultiPolygon.js";
import Polygon, { fromExtent } from "ol/geom/Polygon.js";
import { defaults } from "ol/interaction/defaults.js";
import VectorLayer from "ol/layer/Vector.js";
import VectorImageLayer from "ol/layer/VectorImage.js";
import Projection from "ol/proj/Projection.js";
import VectorSource from "ol/source/Vector.js";
import Fill from "ol/style/Fill.js";
import Stroke from "ol/style/Stroke.js";
import Style from "ol/style/Style.js";
import { element } from "./dom";
import { formatValue } from "./format";
import { type Palette, paletteOf, stepOf, topOf } from "./palette";
import type { MapData, MapLayer, MapLines } from "./results";
import { texts } from "./texts";

const PLAY_MS = 700;
const NO_CHANGE = 1e-12; // what scales begin with
const IDS = ["map-before", "map-after", "map-difference"];

type Side = "raw" | "published" | "difference";
type Values = (number | null)[];

interface Panel {
  side: Side;
  map: OlMap;
  target: HTMLElement;
  print: HTMLImageElement;
  marks: VectorLayer;
}

/** Puts a map with all its controls into an element; returns what removes it. */
export function mountMap(target: HTMLElement, data: MapData): () => void {
  const shown = new LinkedMaps(target, data);
  return () => shown.remove();
}

/** A map that waits while it has no room, as where what it is in is folded or printed; OpenLayers would complain. */
class SizedMap extends OlMap {
  override updateSize(): void {
    const target = this.getTargetElement();
    if (!target || (target.clientWidth && target.clientHeight)) super.updateSize();
  }
}

class LinkedMaps {
  private readonly panels: Panel[] = [];
  private readonly view: View;
  private readonly extent: Extent;
  private readonly hint = element("div", { class: "map-hint", hidden: true });
  private readonly told = element("p", { class: "map-told", "aria-live": "polite" });
  private readonly legend = element("div", { class: "map-legend" });
  private readonly lines: { layer: VectorImageLayer; of: MapLayer; shown: boolean }[] = [];
  private readonly grounds: VectorLayer[] = [];
  private readonly dark = window.matchMedia("(prefers-color-scheme: dark)");
  private palette: Palette;
  private raw: Values;
  private published: Values;
  private slice = -1;
  private timer: number | undefined;
  private readonly undo: (() => void)[] = [];

  constructor(
    private readonly target: HTMLElement,
    private readonly data: MapData,
  ) {
    this.palette = paletteOf(this.dark.matches);
    this.raw = data.marks?.raw ?? [];
    this.published = data.marks?.published ?? [];
    const [x0, y0, x1, y1] = data.extent;
    this.extent = [x0, y0, x1, y1];
    const [wide, tall] = [x1 - x0, y1 - y0];
    const roomy: Extent = [x0 - 5 * wide, y0 - 5 * tall, x1 + 5 * wide, y1 + 5 * tall];
    const projection = new Projection({ code: "plane", units: "m", extent: roomy, getPointResolution: (resolution) => resolution });
    this.view = new View({ projection, center: [(x0 + x1) / 2, (y0 + y1) / 2], extent: roomy, showFullExtent: true, constrainResolution: false, maxResolution: Math.max(wide, tall) / 60, minResolution: Math.max(wide, tall) / 100000 });
    this.build();
    this.recolour();
    this.follow(this.dark, "change", () => this.recolour());
    this.follow(window, "beforeprint", () => this.freeze());
    this.follow(window, "afterprint", () => this.recolour());
  }

  remove(): void {
    window.clearInterval(this.timer);
    for (const undo of this.undo) undo();
    for (const { map } of this.panels) map.setTarget(undefined);
    this.target.replaceChildren();
  }

  private follow(on: EventTarget, name: string, what: () => void): void {
    on.addEventListener(name, what);
    this.undo.push(() => on.removeEventListener(name, what));
  }

  private build(): void {
    const { data } = this;
    const marked = data.marks !== null;
    const both = marked ? data.marks?.raw.some((value) => value !== null) : data.layers.some((layer) => layer.raw);
    const sides: Side[] = both ? ["raw", "published"] : ["published"];
    if (marked && both) sides.push("difference");
    const tall = Math.min(1.05, Math.max(0.55, (this.extent[3] - this.extent[1]) / (this.extent[2] - this.extent[0])));
    const grid = element("div", { class: `map-panels map-${sides.length}` });
    const places: [Side, HTMLElement, HTMLImageElement][] = [];
    for (const [i, side] of sides.entries()) {
      const name = side === "difference" ? differenceName(data) : data.names[side === "raw" ? 0 : 1];
      const canvas = element("div", {
        class: "map-canvas",
        tabindex: "0",
        role: "application",
        "aria-label": texts.mapLabel(data.title, name),
        "data-testid": IDS[sides.length === 1 ? 1 : i],
        "data-side": side,
      });
      canvas.style.aspectRatio = `1 / ${tall.toFixed(3)}`;
      const print = element("img", { class: "map-print", alt: texts.mapLabel(data.title, name).split(":")[0] });
      grid.append(element("div", { class: "map-panel" }, element("p", { class: "map-name" }, name), canvas, print));
      places.push([side, canvas, print]);
    }
    this.target.replaceChildren(
      ...[this.controls(), grid, this.legend, this.told].filter((part): part is HTMLElement => part !== null),
      this.hint,
    );
    // Once they have a size: a map without one complains.
    for (const place of places) this.panels.push(this.panel(...place));
    this.fit();
    for (const { map } of this.panels) this.listen(map);
  }

  private panel(side: Side, target: HTMLElement, print: HTMLImageElement): Panel {
    const marks = new VectorLayer({ source: new VectorSource({ features: this.features() }), style: (feature) => this.style(side, feature.getId() as number) });
    const layers = [];
    if (this.data.background) {
      const ground = new VectorLayer({ source: new VectorSource({ features: [new Feature(new MultiLineString(decode(this.data.background, this.data)))] }) });
      this.grounds.push(ground);
      layers.push(ground);
    }
    layers.push(marks);
    for (const of of this.data.layers) {
      if (side === "difference" || (side === "raw") !== of.raw) continue;
      // Raw trajectories wait behind a switch; published ones are shown where nothing else is.
      const shown = !of.raw && this.data.marks === null;
      // Thousands of lines become one picture, which is moved while the map moves.
      const layer = new VectorImageLayer({ source: new VectorSource(), visible: shown, imageRatio: 1.5 });
      this.lines.push({ layer, of, shown });
      layers.push(layer);
    }
    const map = new SizedMap({
      target,
      layers,
      view: this.view,
      controls: [new Zoom({ zoomInTipLabel: texts.zoomIn, zoomOutTipLabel: texts.zoomOut }), new ScaleLine({ units: "metric", minWidth: 60 })],
      interactions: defaults({ altShiftDragRotate: false, pinchRotate: false, onFocusOnly: false }),
      keyboardEventTarget: target,
    });
    return { side, map, target, print, marks };
  }

  /** The marks as shapes: squares, roads beside each other for their two directions, or circles. */
  private features(): Feature[] {
    const { marks, origin, step, extent } = this.data;
    if (!marks) return [];
    const at = (x: number, y: number): [number, number] => [origin[0] + x * step, origin[1] + y * step];
    const longest = Math.max(extent[2] - extent[0], extent[3] - extent[1]);
    const most = Math.max(1e-12, ...marks.raw.map((value) => value ?? 0), ...marks.published.map((value) => value ?? 0));
    const outlines = marks.outlines ? decode(marks.outlines, this.data) : [];
    return marks.x.map((_, i) => {
      const [x, y] = at(marks.x[i], marks.y[i]);
      const [x2, y2] = at(marks.x2[i], marks.y2[i]);
      const value = Math.max(marks.raw[i] ?? 0, marks.published[i] ?? 0);
      const shape =
        marks.kind === "cells"
          ? fromExtent([x, y, x2, y2])
          : marks.kind === "zones"
            ? new Polygon([outlines[i]])
          : marks.kind === "roads"
            ? new LineString(beside(x, y, x2, y2, longest / 900))
          : marks.kind === "flows"
            ? x === x2 && y === y2
              ? new Circle([x, y], longest / 70)
              : new LineString(bow(x, y, x2, y2))
            : new Circle([x, y], (longest / 28) * Math.sqrt(value / most) + longest / 250);
      const feature = new Feature(shape);
      feature.setId(i);
      return feature;
    });
  }

  /** Whether there is a number on one side that must not be told, so that the two cannot be compared. */
  private isWithheld(side: Side, i: number): boolean {
    const [raw, published] = [this.raw[i] ?? null, this.published[i] ?? null];
    const [ofRaw, ofPublished] = this.data.marks?.withheld ?? [true, false];
    if (raw === null && published === null) return false;
    return (side !== "published" && raw === null && ofRaw) || (side !== "raw" && published === null && ofPublished);
  }

  /** Neither "more" nor "less": hatched grey. */
  private withheldStyle(kind: string | undefined): Style {
    const color = this.palette.withheld;
    if (kind === "roads" || kind === "flows") return new Style({ stroke: new Stroke({ color, width: 1.2, lineDash: [2, 4] }) });
    const outline = kind === "cells" ? undefined : new Stroke({ color, width: 0.8 });
    return new Style({ fill: new Fill({ color: hatched(color) }), stroke: outline });
  }

  private style(side: Side, i: number): Style | undefined {
    const kind = this.data.marks?.kind;
    const [raw, published] = [this.raw[i] ?? null, this.published[i] ?? null];
    if (this.isWithheld(side, i)) return this.withheldStyle(kind);
    const value = side === "raw" ? raw : side === "published" ? published : (published ?? 0) - (raw ?? 0);
    if (raw === null && published === null) return undefined;
    // A zone without a number is still a zone.
    if (value === null) return kind === "zones" ? new Style({ stroke: new Stroke({ color: this.palette.road, width: 1 }) }) : undefined;
    const colour = side === "difference" ? this.differenceColour(value) : this.palette.ramp[stepOf(value / this.largest(), this.palette.ramp.length)];
    if (kind === "roads" || kind === "flows") {
      const share = Math.abs(value) / (side === "difference" ? this.largestChange() : this.largest());
      const width = kind === "flows" ? 0.8 + 5 * share : 1.2 + 3.2 * Math.sqrt(share);
      return new Style({ stroke: new Stroke({ color: colour, width, lineCap: "round" }), zIndex: share });
    }
    if (kind === "zones") return new Style({ fill: new Fill({ color: colour }), stroke: new Stroke({ color: this.palette.road, width: 1 }) });
    if (kind === "places") {
      return new Style({ fill: new Fill({ color: colour }), stroke: new Stroke({ color: this.palette.ink, width: 0.6 }) });
    }
    return new Style({ fill: new Fill({ color: colour }) });
  }

  private differenceColour(value: number): string {
    const share = Math.abs(value) / this.largestChange();
    if (share < 1e-3) return this.palette.even;
    const steps = value < 0 ? this.palette.less : this.palette.more;
    return steps[stepOf(share, steps.length)];
  }

  /** The largest value of both sides: one scale for both; of one slice of time, the largest of all slices. */
  private largest(): number {
    return this.scales()[0];
  }

  private largestChange(): number {
    return this.scales()[1];
  }

  private cached: [number, number, boolean] | null = null;

  private scales(): [number, number] {
    const sliced = this.slice >= 0;
    if (this.cached && this.cached[2] === sliced) return [this.cached[0], this.cached[1]];
    const pairs: [Values, Values][] = sliced
      ? this.data.slices.map((slice) => [slice.raw, slice.published])
      : [[this.data.marks?.raw ?? [], this.data.marks?.published ?? []]];
    let [most, change] = [NO_CHANGE, NO_CHANGE];
    for (const [raw, published] of pairs) {
      const [ofRaw, ofPublished] = this.data.marks?.withheld ?? [true, false];
      for (let i = 0; i < raw.length; i++) {
        most = Math.max(most, raw[i] ?? 0, published[i] ?? 0);
        if ((raw[i] === null && ofRaw) || (published[i] === null && ofPublished)) continue;
        change = Math.max(change, Math.abs((published[i] ?? 0) - (raw[i] ?? 0)));
      }
    }
    this.cached = [most, change, sliced];
    return [most, change];
  }

  private controls(): HTMLElement | null {
    const { data } = this;
    const bar = element("div", { class: "map-controls" });
    if (data.slices.length) bar.append(this.clock());
    for (const layer of data.layers) {
      const text = (layer.kind === "boxes" ? texts.boxes : texts.lines)(layer.name, layer.shown, layer.total);
      const box = element("input", { type: "checkbox", checked: !layer.raw && data.marks === null, "data-testid": layer.raw ? "show-raw" : "show-published" });
      box.addEventListener("change", () => this.toggle(layer, box.checked));
      const warning = layer.raw ? element("span", { class: "map-warning" }, ` ${texts.rawWarning}`) : null;
      bar.append(element("label", { class: "map-check" }, box, ` ${text}`, warning));
    }
    const reset = element("button", { type: "button", class: "map-button", "data-testid": "map-reset" }, texts.reset);
    reset.addEventListener("click", () => this.fit());
    bar.append(reset);
    return bar;
  }

  /** A slider over the slices of time, and a button that goes through them. */
  private clock(): HTMLElement {
    const { slices } = this.data;
    const slider = element("input", { type: "range", min: "0", max: String(slices.length), value: "0", step: "1", "aria-label": texts.time, "data-testid": "map-time" });
    const label = element("output", { class: "map-time", "data-testid": "map-slice" }, texts.allTimes);
    const play = element("button", { type: "button", class: "map-button", "data-testid": "map-play", "aria-pressed": "false" }, texts.play);
    const show = () => {
      const at = Number(slider.value) - 1;
      label.textContent = at < 0 ? texts.allTimes : slices[at].label;
      slider.setAttribute("aria-valuetext", label.textContent);
      this.showSlice(at);
    };
    slider.addEventListener("input", show);
    const stop = () => {
      window.clearInterval(this.timer);
      this.timer = undefined;
      play.textContent = texts.play;
      play.setAttribute("aria-pressed", "false");
    };
    play.addEventListener("click", () => {
      if (this.timer !== undefined) return stop();
      play.textContent = texts.pause;
      play.setAttribute("aria-pressed", "true");
      this.timer = window.setInterval(() => {
        slider.value = String((Number(slider.value) % slices.length) + 1);
        show();
      }, PLAY_MS);
    });
    return element("span", { class: "map-clock" }, play, slider, label);
  }

  private showSlice(at: number): void {
    const { marks, slices } = this.data;
    this.slice = at;
    if (at < 0) {
      [this.raw, this.published] = [marks?.raw ?? [], marks?.published ?? []];
    } else {
      const { marks: which, raw, published } = slices[at];
      this.raw = new Array(marks?.x.length ?? 0).fill(null);
      this.published = new Array(marks?.x.length ?? 0).fill(null);
      which.forEach((mark, i) => {
        this.raw[mark] = raw[i];
        this.published[mark] = published[i];
      });
    }
    for (const { marks: layer } of this.panels) layer.changed();
    for (const { layer, of, shown } of this.lines) {
      (layer.getSource() as VectorSource).clear(true);
      if (shown) this.fillLines(layer, of);
    }
    this.target.dataset.slice = String(at);
    this.drawLegend();
  }

  private toggle(of: MapLayer, shown: boolean): void {
    for (const line of this.lines.filter((one) => one.of === of)) {
      line.shown = shown;
      this.fillLines(line.layer, of);
      line.layer.setVisible(shown);
    }
  }

  /** Trajectories become shapes when they are first looked at. */
  private fillLines(layer: VectorImageLayer, of: MapLayer): void {
    const source = layer.getSource() as VectorSource;
    if (source.getFeatures().length) return;
    const shapes = linesIn(of, decode(of, this.data), this.slice).map((line) => {
      if (of.kind === "lines") return new LineString(line.length > 1 ? line : [line[0], line[0]]);
      const boxes = [];
      for (let i = 0; i + 1 < line.length; i += 2) boxes.push(boxAround(line[i], line[i + 1]));
      return new MultiPolygon(boxes);
    });
    source.addFeatures(shapes.map((shape) => new Feature(shape)));
  }

  private recolour(dark = this.dark.matches): void {
    this.palette = paletteOf(dark);
    for (const ground of this.grounds) ground.setStyle(new Style({ stroke: new Stroke({ color: this.palette.road, width: 1 }) }));
    for (const { layer, of, shown } of this.lines) {
      const color = of.raw ? this.palette.raw : this.palette.published;
      const fill = of.kind === "boxes" ? new Fill({ color: color.replace(/[\d.]+\)$/, "0.03)") }) : undefined;
      layer.setStyle(new Style({ stroke: new Stroke({ color, width: of.kind === "boxes" ? 1 : 1.4, lineCap: "round" }), fill }));
      if (shown) this.fillLines(layer, of);
    }
    for (const { marks } of this.panels) marks.changed();
    this.drawLegend();
  }

  private drawLegend(): void {
    const { data, palette } = this;
    if (!data.marks) return this.legend.replaceChildren();
    const steps = palette.ramp.length;
    const told = (value: number) => formatValue(Number(value.toPrecision(2)), data.percent);
    const list = (name: string, entries: [string, string][]) =>
      element("ul", { class: "map-scale", "aria-label": name }, ...entries.map(([colour, text]) => element("li", {}, swatch(colour), text)));
    const alone = this.panels.length === 1;
    const parts = [list(data.what, palette.ramp.map((colour, i) => [colour, `≤ ${told(topOf(i, steps) * this.largest())}`] as [string, string]))];
    if (!alone) {
      const change = told(this.largestChange());
      const [less, more] = [[...palette.less].reverse(), palette.more];
      const entries = [...less, palette.even, ...more].map((colour, i) => [colour, i === 0 ? `${change} ${texts.less}` : i === less.length ? texts.noChange : i === less.length + more.length ? `${change} ${texts.more}` : ""] as [string, string]);
      parts.push(list(differenceName(data), this.largestChange() > NO_CHANGE ? entries : [[palette.even, texts.noChange]]));
      if (data.marks.x.some((_, i) => this.isWithheld("difference", i))) {
        parts.push(element("ul", { class: "map-scale", "data-testid": "map-withheld" }, element("li", {}, element("span", { class: "map-swatch map-hatch" }), texts.withheld)));
      }
    }
    this.legend.replaceChildren(...parts);
  }

  private fit(): void {
    for (const { map } of this.panels) map.updateSize();
    const size = this.panels[0].map.getSize();
    this.view.fit(this.extent, size ? { size } : {});
  }

  /** Hovering tells what is below the pointer, on both sides; the keyboard tells what is in the middle. */
  private listen(map: OlMap): void {
    // By the shapes themselves: asking the canvas would mean to read it back.
    const source = this.panels[0].marks.getSource() as VectorSource;
    const at = (pixel: number[]): number | null => {
      const here = map.getCoordinateFromPixel(pixel);
      const reach = 4 * (this.view.getResolution() ?? 1);
      if (!here) return null;
      let [found, nearest]: [number | null, number] = [null, reach];
      for (const feature of source.getFeaturesInExtent([here[0] - reach, here[1] - reach, here[0] + reach, here[1] + reach])) {
        const shape = feature.getGeometry();
        const id = feature.getId() as number;
        if (!shape || ((this.raw[id] ?? null) === null && (this.published[id] ?? null) === null)) continue;
        const [x, y] = shape.getClosestPoint(here);
        const away = shape.intersectsCoordinate(here) ? -1 : Math.hypot(x - here[0], y - here[1]);
        if (away < nearest) [found, nearest] = [id, away];
      }
      return found;
    };
    map.on("pointermove", (event) => {
      const mark = event.dragging ? null : at(event.pixel);
      this.hint.hidden = mark === null;
      if (mark === null) return;
      this.hint.textContent = this.tell(mark);
      const where = event.originalEvent as PointerEvent;
      const box = this.target.getBoundingClientRect();
      this.hint.style.left = `${Math.min(where.clientX - box.left + 14, box.width - 190)}px`;
      this.hint.style.top = `${where.clientY - box.top + 14}px`;
    });
    const target = map.getTargetElement();
    target.addEventListener("pointerleave", () => {
      this.hint.hidden = true;
    });
    target.addEventListener("keyup", () => {
      const size = map.getSize();
      const mark = size ? at([size[0] / 2, size[1] / 2]) : null;
      this.told.textContent = `${texts.middle}: ${mark === null ? texts.emptyMiddle : this.tell(mark).replaceAll("\n", "; ")}.`;
    });
    let first = true;
    map.on("change:size", () => {
      if (first && map.getSize()?.every((side) => side > 0)) {
        first = false;
        if (map === this.panels[0].map) this.fit();
      }
    });
  }

  private tell(mark: number): string {
    const { marks, names, percent, what } = this.data;
    if (!marks) return "";
    const name = marks.labels[mark] ?? texts.cell;
    const people: [number | null, number | null] = this.slice < 0 ? [marks.raw_people[mark], marks.published_people[mark]] : [null, null];
    const withheld = marks.withheld ?? [true, false];
    const told = [this.raw[mark] ?? null, this.published[mark] ?? null].map((value, i) =>
      this.panels.length === 1 && i === 0 ? "" : `${names[i]}: ${value === null ? (withheld[i] ? texts.withheld : (marks.missing ?? texts.none)) : `${formatValue(value, percent)} ${percent ? "" : what}`.trim() + texts.people(people[i])}`,
    );
    return [name, ...told.filter(Boolean)].join("\n");
  }

  /** Paper is light and of another width: pictures of the maps are printed in their place. */
  private freeze(): void {
    this.recolour(false);
    for (const { map, target, print } of this.panels) {
      if (!target.clientWidth) continue;
      map.renderSync();
      const [width, height] = [target.clientWidth, target.clientHeight];
      const canvas = document.createElement("canvas");
      const scale = 2;
      canvas.width = width * scale;
      canvas.height = height * scale;
      const ink = canvas.getContext("2d");
      if (!ink) continue;
      ink.fillStyle = this.palette.ground;
      ink.fillRect(0, 0, canvas.width, canvas.height);
      for (const part of target.querySelectorAll("canvas")) if (part.width && part.height) ink.drawImage(part, 0, 0, canvas.width, canvas.height);
      print.src = canvas.toDataURL("image/png");
    }
  }
}

/** Lines in metres of the plane from changes in whole steps. */
export function decode(lines: MapLines, data: { origin: [number, number]; step: number }): [number, number][][] {
  const found: [number, number][][] = [];
  let [x, y] = [0, 0];
  for (let i = 0; i + 1 < lines.offsets.length; i++) {
    const line: [number, number][] = [];
    for (let j = lines.offsets[i]; j < lines.offsets[i + 1]; j++) {
      x += lines.x[j];
      y += lines.y[j];
      line.push([data.origin[0] + x * data.step, data.origin[1] + y * data.step]);
    }
    if (line.length) found.push(line);
  }
  return found;
}

/** The parts of lines, or the boxes, of one slice of time; all of them where none is chosen, or nothing says when they are. */
export function linesIn(of: { kind: "lines" | "boxes"; slices?: number[] }, lines: [number, number][][], slice: number): [number, number][][] {
  const slices = of.slices ?? [];
  if (slice < 0 || !slices.length) return lines;
  const found: [number, number][][] = [];
  let first = 0; // of this line, among all corners or boxes
  for (const line of lines) {
    const many = of.kind === "boxes" ? line.length / 2 : line.length;
    let part: [number, number][] = [];
    for (let i = 0; i < many; i++) {
      const here = slices[first + i] === slice;
      if (here && of.kind === "boxes") part.push(line[2 * i], line[2 * i + 1]);
      else if (here) part.push(line[i]);
      else if (part.length && of.kind === "lines") {
        found.push([...part, line[i]]); // as far as it goes until it is in the next slice
        part = [];
      }
    }
    if (part.length) found.push(part);
    first += many;
  }
  return found;
}

function boxAround([x, y]: [number, number], [x2, y2]: [number, number]): [number, number][][] {
  return [[[x, y], [x2, y], [x2, y2], [x, y2], [x, y]]];
}

/** A line moved to its right, as seen by whoever goes along it, so that two directions are two lines. */
function beside(x: number, y: number, x2: number, y2: number, by: number): [number, number][] {
  const length = Math.hypot(x2 - x, y2 - y);
  if (length === 0) return [[x, y], [x2, y2]];
  const [dx, dy] = [((y2 - y) / length) * by, (-(x2 - x) / length) * by];
  return [[x + dx, y + dy], [x2 + dx, y2 + dy]];
}

/** A line that bows to its right, so that both directions between two zones can be seen. */
function bow(x: number, y: number, x2: number, y2: number): [number, number][] {
  const [mx, my] = [(x + x2) / 2 + (y2 - y) * 0.18, (y + y2) / 2 - (x2 - x) * 0.18];
  return Array.from({ length: 17 }, (_, i) => {
    const [a, b, c] = [(1 - i / 16) ** 2, 2 * (i / 16) * (1 - i / 16), (i / 16) ** 2];
    return [a * x + b * mx + c * x2, a * y + b * my + c * y2] as [number, number];
  });
}

const patterns = new Map<string, CanvasPattern | string>();

/** Stripes of a colour, as a canvas fills with them. */
function hatched(colour: string): CanvasPattern | string {
  const known = patterns.get(colour);
  if (known) return known;
  const size = 8;
  const tile = document.createElement("canvas");
  [tile.width, tile.height] = [size, size];
  const ink = tile.getContext("2d");
  if (!ink) return colour;
  ink.strokeStyle = colour;
  ink.lineWidth = 1.4;
  for (const shift of [-size, 0, size]) {
    ink.moveTo(shift - 1, size + 1);
    ink.lineTo(shift + size + 1, -1);
  }
  ink.stroke();
  const made = ink.createPattern(tile, "repeat") ?? colour;
  patterns.set(colour, made);
  return made;
}

const differenceName = ({ names }: MapData) => texts.difference(...(names.map((name) => name.replace(/ data$/, "")) as [string, string]));

function swatch(colour: string): HTMLElement {
  const made = element("span", { class: "map-swatch" });
  made.style.background = colour;
  return made;
}
