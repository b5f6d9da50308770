/** Where to begin: values for parameters without a default, as docs/publish/choosing.md gives them. */
export const suggestions: Record<string, Record<string, string>> = {
  kcl: { k: "10", l: "2", c: "0.5" },
  nwa: { delta: "0" },
  w4m: { delta: "0" },
  knode: { k: "5", window: "10min" },
  tga: { k: "5" },
  qid: { k: "5" },
  icba: { k: "10" },
  cba: { k: "10" },
  prefix: { k: "10" },
  cast: { c: "0.3", m: "5" },
  counts: { k: "10" },
  synth: { epsilon: "1" },
  dp_counts: { epsilon: "1" },
  grid: { cell: "500", bucket: "1h" },
  resample: { period: "30s" },
  bucket: { width: "1h" },
  cut: { period: "1d" },
  fold: { to: "weekday-weekend" },
  window: { width: "1h" },
  zones: { cell: "500" },
  mark: { rule: "ends" },
};

/** The kind of data that comes out, and for whom a method is meant, by name; methods not listed have their summary. */
export const order = ["kcl", "gsup", "knode", "tga", "nwa", "w4m", "qid", "icba", "cast", "counts", "dp_counts", "synth", "cba", "prefix"];
