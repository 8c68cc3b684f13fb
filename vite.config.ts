import { defineConfig, type Plugin } from "vite";

/**
 * Pages read JSON, and never write a JSON Schema, for which zod brings along as much code as for
 * many of its types. Without it the first load is smaller.
 */
const withoutJsonSchemas: Plugin = {
  name: "without-json-schemas",
  transform: {
    filter: { id: /\/zod\/v4\/core\/to-json-schema\.js$/ },
    handler: (code) =>
      Array.from(
        code.matchAll(/^export (?:function|const) (\w+)/gm),
        ([, name]) => `export const ${name} = () => { throw new Error("no JSON Schema here"); };`,
      ).join("\n"),
  },
};

/**
 * What the first page is made of beside its own code, as one file: apart, its two dozen files were 4 kB larger,
 * since each is compressed alone and named in the first script.
 */
const firstFile = {
  name: "first",
  test: (id: string) =>
    /\/node_modules\/(?!@tanstack\/(?:react-)?virtual)/.test(id) ||
    /\/web\/farm\/|\/web\/parts\/(?:copy|counts-bar|duration|empty-state|hotkeys|now|page-title|state|state-shapes|state-words|times)\.tsx?$/.test(
      id,
    ) ||
    /\/src\/(?:core\/fault|api\/(?:declared-class|failure|graph|graph-choice|job-state|waiting))\.ts$/.test(
      id,
    ),
};

/** The pages. In development, `npx tsx web/dev/serve.ts` answers the API with made-up data. */
export default defineConfig({
  root: "web",
  base: "/",
  plugins: [withoutJsonSchemas],
  build: {
    outDir: "../dist/web",
    emptyOutDir: true,
    // Nothing is inlined as `data:`, so that the pages can forbid it.
    assetsInlineLimit: 0,
    target: "es2023",
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: { codeSplitting: { groups: [firstFile] } },
      onLog(level, log, handle) {
        // The router marks its files "use client" for frameworks that render on a server; none is used here.
        if (log.code !== "MODULE_LEVEL_DIRECTIVE") handle(level, log);
      },
    },
  },
  worker: { format: "es" },
  server: { proxy: { "/api": "http://127.0.0.1:4700" } },
});
