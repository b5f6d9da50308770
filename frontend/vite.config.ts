import { defineConfig, type Plugin } from "vite";
import { licences } from "./licences";

const server = process.env.WAYVEIL_SERVER ?? "http://127.0.0.1:8765";

/** What draws is built once, for the report (vite.visual.config.ts); the server has the page load that file. */
function builtLayer(): Plugin {
  return {
    name: "built-layer",
    apply: "build",
    enforce: "pre",
    resolveId: (source) => (source === "./layer" ? { id: "/assets/visual.js", external: "absolute" } : null),
  };
}

export default defineConfig({
  plugins: [licences(), builtLayer()],
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
