import { describe, expect, it } from "vitest";
import type { DataKind, Parameter, Step } from "../src/api";
import { inputOf, readDraft } from "../src/draft";
import { check, fill, filledFrom, splitDuration } from "../src/forms";
import { kindsAlong, withStep } from "../src/steps";
import { formatNumber, formatPercent, oneIn, sentence, words } from "../src/words";
import { overlay } from "../src/pages/result/Attacks";
import { coloursOf, kneeOf, placeNames } from "../src/visual/charts";
import { decode } from "../src/visual/map";
import { stepOf, topOf } from "../src/visual/palette";
import { linkTo, routeOf } from "../src/route";

const parameter = (part: Partial<Parameter>): Parameter => ({
  name: "k", kind: "int", required: false, default: null, low: null, high: null, choices: [], help: "", range: "", ...part,
});

describe("a field", () => {
  it("takes what the declaration allows, and nothing else", () => {
    const k = parameter({ low: 2, required: true });
    expect(check(k, "5")).toEqual({ value: 5 });
    for (const wrong of ["", "1", "2.5", "five"]) expect(check(k, wrong)).toHaveProperty("error");
    const l = parameter({ low: 1, choices: ["all"], required: true });
    expect(check(l, "all")).toEqual({ value: "all" });
    expect(check(parameter({ kind: "number", low: 0, high: 180 }), "181")).toHaveProperty("error");
  });
  it("takes a share as people write it, exactly", () => {
    const c = parameter({ kind: "fraction", low: 0, high: 1 });
    expect(check(c, "1/3")).toEqual({ value: "1/3" });
    expect(check(c, "60 %")).toEqual({ value: "0.6" });
    expect(check(c, "0.5 %")).toEqual({ value: "0.005" });
    expect(check(c, "12.5%")).toEqual({ value: "0.125" });
    expect(check(c, "100 %")).toEqual({ value: "1" });
    for (const wrong of ["1/0", "1.2", "-1", "half"]) expect(check(c, wrong)).toHaveProperty("error");
  });
  it("takes a length of time with its unit", () => {
    const window = parameter({ kind: "duration", required: true });
    expect(check(window, "15min")).toEqual({ value: "15min" });
    expect(check(window, "15")).toEqual({ value: "15" });
    for (const wrong of ["min", "0min", "1.5h"]) expect(check(window, wrong)).toHaveProperty("error");
    expect(splitDuration("15m")).toEqual({ number: "15", unit: "min" });
    expect(splitDuration("7")).toEqual({ number: "7", unit: "" });
  });
  it("takes groups with a name and values", () => {
    const groups = parameter({ kind: "groups", required: true });
    expect(check(groups, [{ name: " shop ", values: "a\n\n b " }])).toEqual({ value: { shop: ["a", "b"] } });
    expect(check(groups, [{ name: "shop", values: "" }])).toHaveProperty("error");
    expect(check(groups, [])).toHaveProperty("error");
  });
});

describe("a form", () => {
  it("sends what differs from the default", () => {
    const declared = [parameter({ required: true }), parameter({ name: "center", kind: "choice", default: "mean", choices: ["mean", "mec"] })];
    expect(fill(declared, { k: "5", center: "mean" })).toEqual({ values: { k: 5 }, errors: {} });
    expect(fill(declared, { k: "", center: "mec" }).errors).toHaveProperty("k");
    expect(filledFrom(declared, { k: 5 })).toEqual({ k: "5", center: "mean" });
  });
});

describe("a chain of steps", () => {
  const step = (name: string, accepts: DataKind, gives: DataKind): Step => ({ name, summary: "", accepts, accepts_also: [], gives, parameters: [] });
  const steps = [step("clean", "points", "points"), step("mark", "points", "points"), step("grid", "points", "visits"), step("cut", "visits", "visits")];
  it("knows the kind at each place, and puts a step where it fits", () => {
    let chosen = [{ key: 0, step: "grid", values: {} }];
    chosen = withStep("points", chosen, steps, "clean");
    chosen = withStep("points", chosen, steps, "cut");
    expect(chosen.map((one) => one.step)).toEqual(["clean", "grid", "cut"]);
    expect(kindsAlong("points", chosen, steps)).toEqual(["points", "points", "visits", "visits"]);
    expect(kindsAlong("visits", chosen, steps)).toEqual(["visits", null, null, null]);
    expect(withStep("points", [{ key: 0, step: "mark", values: {} }], steps, "clean").map((one) => one.step)).toEqual(["clean", "mark"]);
  });
});

describe("words", () => {
  it("are those of the report", () => {
    expect([12345, 12345.678, 100.5, 3.14159, 0.00123, 2, null].map(formatNumber)).toEqual(["12,345", "12,346", "100.5", "3.14", "0.00123", "2", "–"]);
    expect([0, 0.034, 0.5001, 0.00012, 0.9999, 1, null].map((v) => formatPercent(v).replace("\u00a0", " "))).toEqual(["0 %", "3.4 %", "50 %", "0.01 %", "99.99 %", "100 %", "–"]);
    expect(["min_support", "visits_kept_share", "max_distance_m"].map(words)).toEqual(["Smallest support", "Share of visits kept", "Largest distance (m)"]);
    expect([1 / 12, 0.034, 0.5, 0.41, 1, 0].map(oneIn)).toEqual(["1 in 12", "about 1 in 29", "1 in 2", "", "", ""]);
    expect(sentence("knows 3 visits")).toBe("An attacker who knows 3 visits.");
  });
});

describe("charts", () => {
  it("lie over each other label by label", () => {
    const chart = (labels: string[], values: number[]) => ({ title: "Risk", kind: "bars" as const, labels, series: [{ name: "n", values }], x_label: "", y_label: "", percent: false, lines: [], finding: "", scale: "names" as const, at: [] });
    const both = overlay(chart(["a", "c"], [1, 2]), chart(["a", "b", "c"], [3, 4, 5]), ["raw", "published"]);
    expect(both.labels).toEqual(["a", "b", "c"]);
    expect(both.series.map((series) => series.values)).toEqual([[1, null, 2], [3, 4, 5]]);
  });
  it("keep a real scale only where both have it", () => {
    const chart = (labels: string[], at: number[]) => ({ title: "Risk", kind: "line" as const, labels, series: [{ name: "n", values: at }], x_label: "", y_label: "", percent: false, lines: [], finding: "", scale: "numbers" as const, at });
    const both = overlay(chart(["5", "20"], [5, 20]), chart(["10", "50"], [10, 50]), ["raw", "published"]);
    expect([both.scale, both.labels.length, both.at.length]).toEqual(["names", 4, 0]);
    expect(overlay(chart(["5", "20"], [5, 20]), chart(["5", "20", "50"], [5, 20, 50]), ["raw", "published"]).at).toEqual([5, 20, 50]);
  });
  it("have the colours of raw and published data, whichever comes first", () => {
    expect(coloursOf(["published", "original"])).toEqual([...coloursOf(["original", "published"])].reverse());
    expect(new Set(coloursOf(["raw: a", "raw: b", "published: a", "published: b"])).size).toBe(4);
  });
});

describe("the frontier", () => {
  const spot = (name: string, loss: number, risk: number) => ({ name, title: name, loss, risk, dominated: false });
  it("bends where most risk goes for the least loss", () => {
    expect(kneeOf([spot("a", 0, 1), spot("b", 0.1, 0.2), spot("c", 1, 0)])?.name).toBe("b");
    expect(kneeOf([spot("a", 0, 1), spot("b", 0.5, 0.5), spot("c", 1, 0)])).toBeNull();
    expect(kneeOf([spot("a", 0, 1)])).toBeNull();
  });
  it("has names that do not cover each other", () => {
    const spots = Array.from({ length: 12 }, (_, i) => spot(String(i), i / 100, 0.5));
    const placed = placeNames(spots, (one) => [200 + one.loss * 300, 150], 600, 300);
    const boxes = placed.map(({ spot: one, dx, dy }) => [200 + one.loss * 300 + dx, 150 + dy, one.name.length * 6.6]);
    for (const [i, [x, y, wide]] of boxes.entries()) {
      for (const [x2, y2, wide2] of boxes.slice(i + 1)) expect(Math.abs(y - y2) >= 14 || x + wide <= x2 || x2 + wide2 <= x).toBe(true);
    }
    expect(placed.length).toBeGreaterThan(2);
  });
});

describe("a map", () => {
  it("reads lines from changes in whole steps", () => {
    expect(decode({ offsets: [0, 2, 3], x: [1, 2, -3], y: [0, 5, 1] }, { origin: [100, 200], step: 10 })).toEqual([[[110, 200], [130, 250]], [[100, 260]]]);
  });
  it("has one scale whose steps hold what they say", () => {
    for (let step = 0; step < 7; step++) {
      expect(stepOf(topOf(step, 7), 7)).toBe(step);
      expect(stepOf(topOf(step, 7) + 1e-6, 7)).toBe(Math.min(6, step + 1));
    }
    expect(stepOf(0, 7)).toBe(0);
  });
});

describe("a route", () => {
  it("comes back from its link", () => {
    expect(routeOf(linkTo("parameters", "a/b", "kcl"))).toEqual({ page: "parameters", parts: ["a/b", "kcl"] });
    expect(routeOf("#/nowhere/%").page).toBe("files");
  });
});

describe("who is behind a trajectory", () => {
  const draft = { ...readDraft("none"), kind: "visits" as const, columns: { user_id: "card" } };
  const owners = [{ id: "f1", name: "who.csv" }, { id: "f2", name: "more.csv" }];
  it("is a column, a table or a declaration, and nothing where nobody said it", () => {
    expect(inputOf("f", draft)).toMatchObject({ owners: [], columns: { user_id: "card" } });
    expect(inputOf("f", { ...draft, columns: {}, person: "each" }).owners).toBe("each-trajectory");
    expect(inputOf("f", { ...draft, columns: {}, person: "table", owners }).owners).toEqual(["f1", "f2"]);
    expect(inputOf("f", { ...draft, columns: {}, person: null, owners }).owners).toEqual([]);
  });
});
