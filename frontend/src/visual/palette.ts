/** Colours of the maps, as the canvas needs them: one sequential scale for both sides, one diverging for differences. */
export interface Palette {
  ramp: string[];
  less: string[];
  more: string[];
  even: string;
  withheld: string;
  ground: string;
  road: string;
  raw: string;
  published: string;
  ink: string;
}

// Steps of light blue to navy, and of orange to purple: told apart by people who do not see red and green.
const LIGHT: Palette = {
  ramp: ["#dbe9f6", "#bad6eb", "#89bedc", "#539ecd", "#2b7bba", "#0b559f", "#08306b"],
  less: ["#fdd9a9", "#f5a94e", "#d6721b", "#9a4a06"],
  more: ["#d8d3e8", "#a99fcb", "#7763a5", "#4a2178"],
  even: "#eef1f4",
  withheld: "#7b8794",
  ground: "#ffffff",
  road: "#d5dae0",
  raw: "rgba(166, 83, 0, 0.35)",
  published: "rgba(0, 82, 138, 0.3)",
  ink: "#1c2530",
};
const DARK: Palette = {
  ramp: ["#17324a", "#1c4a73", "#23669d", "#3b86c4", "#64a9de", "#9acbf0", "#dcefff"],
  less: ["#5b3a14", "#94571a", "#cf8433", "#ffc27d"],
  more: ["#3c3258", "#62509a", "#9280cc", "#cdc2f5"],
  even: "#242c35",
  withheld: "#8b97a5",
  ground: "#1a2027",
  road: "#3b4552",
  raw: "rgba(242, 171, 96, 0.35)",
  published: "rgba(140, 201, 242, 0.3)",
  ink: "#e7ebf0",
};

export const paletteOf = (dark: boolean): Palette => (dark ? DARK : LIGHT);

/** The step of a scale for a share of the largest value; the root spreads the many small ones. */
export function stepOf(share: number, steps: number): number {
  return Math.min(steps - 1, Math.max(0, Math.ceil(Math.sqrt(Math.max(0, share)) * steps) - 1));
}

/** The largest share that a step holds. */
export const topOf = (step: number, steps: number): number => ((step + 1) / steps) ** 2;
