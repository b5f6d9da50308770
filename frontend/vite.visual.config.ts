import { defineConfig } from "vite";
import { licences } from "./licences";

/** The charts and maps as one module and one style sheet: the report carries them inside, the page loads the same file. */
export default defineConfig({
  publicDir: false,
  plugins: [licences()],
  build: {
    outDir: "../src/wayveil/report/visual",
    emptyOutDir: true,
    sourcemap: false,
    target: "es2022",
    cssMinify: true,
    modulePreload: false,
    rollupOptions: {
      input: "src/visual/report.ts",
      preserveEntrySignatures: "strict",
      output: { entryFileNames: "visual.js", assetFileNames: "visual[extname]" },
    },
  },
});
