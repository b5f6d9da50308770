import { defineConfig } from "vite";
import { licences } from "./licences";

/** The charts and maps as one script and one style sheet, which the report carries inside. */
export default defineConfig({
  publicDir: false,
  plugins: [licences()],
  build: {
    outDir: "../src/wayveil/report/visual",
    emptyOutDir: false,
    sourcemap: false,
    target: "es2022",
    cssMinify: true,
    lib: { entry: "src/visual/report.ts", formats: ["iife"], name: "wayveil", fileName: () => "visual.js", cssFileName: "visual" },
  },
});
