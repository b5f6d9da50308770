import { readFileSync } from "node:fs";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** Writes the licences of everything that ends up in the page beside it. */
function licences(packages: string[]): Plugin {
  return {
    name: "licences",
    apply: "build",
    generateBundle() {
      const parts = packages.map((name) => {
        const { version, license } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf-8"));
        const text = readFileSync(`node_modules/${name}/LICENSE`, "utf-8").trim();
        return `${name} ${version} (${license})\n\n${text}\n`;
      });
      const head = "The page of Wayveil is Apache-2.0, as the rest of it. The built file also holds these packages:\n";
      this.emitFile({ type: "asset", fileName: "LICENSES.txt", source: [head, ...parts].join("\n") });
    },
  };
}

const server = process.env.WAYVEIL_SERVER ?? "http://127.0.0.1:8765";

export default defineConfig({
  plugins: [react(), licences(["react", "react-dom", "scheduler"])],
  build: {
    outDir: "../src/wayveil/web/static",
    emptyOutDir: true,
    sourcemap: false,
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rollupOptions: {
      output: {
        entryFileNames: "assets/app.js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/app[extname]",
      },
    },
  },
  // For work on the page: `npm run dev`, with a server started by `WAYVEIL_TOKEN=TOKEN wayveil serve --port 8765`.
  server: {
    proxy: {
      "/api": {
        target: server,
        changeOrigin: true,
        headers: { authorization: `Bearer ${process.env.WAYVEIL_TOKEN ?? ""}`, origin: server },
      },
    },
  },
});
