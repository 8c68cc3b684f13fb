import { defineConfig } from "vite";

/** The pages. In development, `npx tsx web/dev/serve.ts` answers the API with made-up data. */
export default defineConfig({
  root: "web",
  base: "/",
  build: {
    outDir: "../dist/web",
    emptyOutDir: true,
    // Nothing is inlined as `data:`, so that the pages can forbid it.
    assetsInlineLimit: 0,
    target: "es2023",
    modulePreload: { polyfill: false },
    rolldownOptions: {
      onLog(level, log, handle) {
        // The router marks its files "use client" for frameworks that render on a server; none is used here.
        if (log.code !== "MODULE_LEVEL_DIRECTIVE") handle(level, log);
      },
    },
  },
  worker: { format: "es" },
  server: { proxy: { "/api": "http://127.0.0.1:4700" } },
});
