import { join, relative } from "node:path";
import { createServer, type Plugin, type ViteDevServer } from "vite";

interface PagesOptions {
  readonly root: string;
  readonly port: number;
  /** The address of the server that answers all requests except those for pages. */
  readonly server: string;
  /** Resolves when the server is ready; requests wait for it during a restart. */
  readonly serverReady: () => Promise<unknown>;
  readonly onReload: (file: string, sinceSaveMs: number) => void;
}

/** Starts Vite, which serves the pages from their sources and reloads browsers when one changes. */
export async function startPages(options: PagesOptions): Promise<ViteDevServer> {
  const { root, port, server, serverReady, onReload } = options;
  const reporting: Plugin = {
    name: "report-reloads",
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
  return vite;
}
