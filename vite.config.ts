import { defineConfig } from "vite";

/**
 * Serves the pages from their sources, for `npm run dev` and `npx vite`: `npx tsx web/dev/serve.ts` then answers the API
 * with made-up data. What users get is built by `scripts/page-bundles.mjs`.
 */
export default defineConfig({
  root: "web",
  worker: { format: "es" },
  server: { proxy: { "/api": "http://127.0.0.1:4700" } },
});
