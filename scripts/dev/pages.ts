import { join, relative } from "node:path";
import { createServer, type Plugin, type ViteDevServer } from "vite";
import { type FileEvent, watchFolder } from "./watch-folder.ts";

interface PagesOptions {
  readonly root: string;
  readonly port: number;
  /** The address of the server that answers all requests except those for pages. */
  readonly server: string;
  /** Resolves when the server is ready; requests wait for it during a restart. */
  readonly serverReady: () => Promise<unknown>;
  readonly onReload: (file: string, sinceSaveMs: number) => void;
}

/** An editor may empty a file before it writes it: events of a file are passed on after this time without another. */
const settledMs = 20;

/** A running Vite with the watchers that feed it. */
interface Pages {
  close(): Promise<void>;
}

/**
 * Starts Vite, which serves the pages from their sources and reloads browsers when one changes.
 *
 * Changes are noticed from the moment it resolves.
 */
export async function startPages(options: PagesOptions): Promise<Pages> {
  const { root, port, server, serverReady, onReload } = options;
  const reporting: Plugin = {
    name: "report-reloads",
    hotUpdate: {
      order: "post",
      handler({ file, modules, timestamp }) {
        if (this.environment.name !== "client" || modules.length === 0) return;
        // Browsers are notified after this hook. Vite's times never repeat, so they may be some ms ahead of the clock.
        setImmediate(() => onReload(relative(root, file), Math.max(0, Date.now() - timestamp)));
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
      // The folders are watched here, see `watchFolder`.
      watch: null,
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
  // Pages import modules of both.
  const watched = ["web", "src"].map((folder) => passOn(join(root, folder), vite));
  await vite.listen();
  return {
    close: async () => {
      for (const stop of watched) stop();
      await vite.close();
    },
  };
}

/** Passes the events of a folder on to Vite. */
function passOn(folder: string, { watcher }: ViteDevServer): () => void {
  const waiting = new Map<string, { event: FileEvent; timer: NodeJS.Timeout }>();
  const unwatch = watchFolder(folder, (path, latest) => {
    const earlier = waiting.get(path);
    clearTimeout(earlier?.timer);
    const event = earlier?.event === "add" && latest === "change" ? "add" : latest;
    const emit = () => {
      waiting.delete(path);
      watcher.emit(event, path);
    };
    waiting.set(path, { event, timer: setTimeout(emit, settledMs) });
  });
  return () => {
    unwatch();
    for (const { timer } of waiting.values()) clearTimeout(timer);
  };
}
