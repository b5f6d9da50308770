import { existsSync, readFileSync } from "node:fs";
import type { Plugin } from "vite";

const NAMES = ["LICENSE", "LICENSE.md", "LICENSE.txt", "LICENCE", "license"];

/** Writes the licences of everything that ends up in a built file beside it. */
export function licences(fileName = "LICENSES.txt"): Plugin {
  return {
    name: "licences",
    apply: "build",
    generateBundle(_, bundle) {
      const packages = new Set<string>();
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== "chunk") continue;
        for (const id of Object.keys(chunk.modules)) {
          const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(id);
          if (found) packages.add(found[1]);
        }
      }
      const parts = [...packages].sort().map((name) => {
        const { version, license } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf-8"));
        const file = NAMES.map((one) => `node_modules/${name}/${one}`).find((path) => existsSync(path));
        return `${name} ${version} (${license})\n\n${file ? readFileSync(file, "utf-8").trim() : license}\n`;
      });
      const head = "The page of Wayveil is Apache-2.0, as the rest of it. The built file also holds these packages:\n";
      this.emitFile({ type: "asset", fileName, source: [head, ...parts].join("\n") });
    },
  };
}
