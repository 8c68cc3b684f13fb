import { once } from "node:events";
import { join, relative } from "node:path";
import { createServer, type Plugin, type ViteDevServer } from "vite";
import { inTime } from "#core/in-time.ts";

interface PagesOptions {
  readonly root: string;
  readonly port: number;
  /** The address of the server that answers all requests except those for pages. */
  readonly server: string;
  /** Resolves when the server is ready; requests wait for it during a restart. */
  readonly serverReady: () => Promise<unknown>;
  readonly onReload: (file: string, sinceSaveMs: number) => void;
}

/** After this time the pages are served even if Vite did not report that its watcher is ready. */
const watcherReadyMs = 5_000;

/**
 * Starts Vite, which serves the pages from their sources and reloads browsers when one changes.
 *
 * Resolves when Vite has read the existing files: it misses changes before that.
 */
export async function startPages(options: PagesOptions): Promise<ViteDevServer> {
  const { root, port, server, serverReady, onReload } = options;
  let watching: Promise<unknown> = Promise.resolve();
  const reporting: Plugin = {
    name: "report-reloads",
    configureServer({ watcher }) {
      watching = once(watcher, "ready");
    },
    hotUpdate: {
      order: "post",
      handler({ file, modules, timestamp }) {
        if (this.environment.name !== "client" || modules.length === 0) return;
        // Browsers are notified after this hook.
        setImmediate(() => onReload(relative(root, file), Date.now() - timestamp));
      },
    },
  };
  const vite = await createServer({
    configFile: join(root, "vite.config.ts"),
    root: join(root, "web"),
    // Not below node_modules, which several checkouts may share.
    cacheDir: join(root, "dist/dev/vite"),
    logLevel: "warn",
    clearScreen: false,
    plugins: [reporting],
    server: {
      host: "127.0.0.1",
      port,
      strictPort: true,
      watch: { ignored: ["**/dist/**", "**/.grange-data/**"] },
      proxy: Object.fromEntries(
        ["/api", "/cache/", "/forge/", "/metrics"].map((prefix) => [
          prefix,
          {
            target: server,
            bypass: async () => {
              await serverReady();
              return undefined;
            },
          },
        ]),
      ),
    },
  });
  await vite.listen();
  await inTime(watching, watcherReadyMs);
  return vite;
}
