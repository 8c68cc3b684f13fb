import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Service } from "#core/service.ts";
import { startChild } from "./child.ts";
import type { LocalWorker } from "./local-workers.ts";
import { untilServerReady } from "./server-ready.ts";
import { type Supervised, supervise } from "./supervise.ts";

export interface FarmProcesses extends Service {
  readonly url: string;
  /** How long the database took to answer, and the server all else of its start. */
  readonly startedInMs: { readonly database: number; readonly server: number };
  /** Starts a collector of benchmarks beside the workers, unless it was started before. */
  startCollector(name: string, dataDir: string): void;
  /** Ends everything without asking. */
  kill(): void;
}

export interface FarmOptions {
  /** Node's arguments that run `grange`: what comes after is the command. */
  readonly grange: readonly string[];
  readonly dataDir: string;
  readonly logs: string;
  readonly port: number;
  /** As it was written; the server reads it, or GRANGE_STORE_LIMIT. */
  readonly storeLimit: string | undefined;
  /** A file of an authority that the workers are to trust, besides those they trust anyway. */
  readonly ca: string | undefined;
  readonly workers: readonly LocalWorker[];
  readonly onDeath: (name: string, how: string, restartInMs: number, logFile: string) => void;
}

/** Workers first, then the server: together less than the five seconds that Ctrl-C may take. */
const workerGraceMs = 1_500;
const serverGraceMs = 2_500;

/** Starts a server and its workers as processes, and keeps them running. */
export async function startFarmProcesses(options: FarmOptions): Promise<FarmProcesses> {
  const { grange, dataDir, logs, workers, ca, onDeath } = options;
  const logOf = (name: string) => join(logs, `${name}.log`);
  const command = (name: string, args: readonly string[]) => ({
    program: process.execPath,
    args: [...grange, ...args, "--end-with-parent"],
    logFile: logOf(name),
  });
  const serverCommand = (port: number) =>
    command("server", [
      ...words("server", { data: dataDir, port, "store-limit": options.storeLimit }),
      "--owner-token",
    ]);

  const started = performance.now();
  const first = startChild(serverCommand(options.port));
  let url: string;
  let databaseMs: number;
  try {
    ({ url, databaseMs } = await untilServerReady(first, logOf("server")));
  } catch (cause) {
    await first.stop(serverGraceMs);
    throw cause;
  }
  const startedInMs = { database: databaseMs, server: performance.now() - started - databaseMs };
  // Started again it must be where everybody knows it, also when any port was good at first.
  const port = Number(new URL(url).port);
  const server = supervise(
    {
      start: () => startChild(serverCommand(port)),
      onDeath: (how, ms) => onDeath("server", how, ms, logOf("server")),
      graceMs: serverGraceMs,
    },
    first,
  );
  // Made by the server. So they go on working when the farm is closed.
  const workerToken = join(dataDir, "worker-token");
  const asWorkersHere = existsSync(workerToken) ? { "token-file": workerToken } : {};
  const supervised: Supervised[] = workers.map(({ name, sizeClass, slots, cpus, memoryBytes }) =>
    supervise({
      start: () =>
        startChild(
          // They share a directory: what one fetched, none fetches again.
          command(
            `worker-${name}`,
            words("worker", {
              server: url,
              name,
              "size-class": sizeClass,
              slots,
              cpus,
              memory: memoryBytes === "all" ? "all" : `${memoryBytes}B`,
              data: join(dataDir, "worker"),
              hide: dataDir,
              ...asWorkersHere,
              ...(ca === undefined ? {} : { ca }),
            }),
          ),
        ),
      onDeath: (how, ms) => onDeath(`worker ${name}`, how, ms, logOf(`worker-${name}`)),
      graceMs: workerGraceMs,
    }),
  );
  const collectors = new Map<string, Supervised>();
  // A collector is asked for by its farm's owner: it needs a right that workers do not have.
  const ownerToken = join(dataDir, "owner-token");
  return {
    url,
    startedInMs,
    startCollector(name, collectorDir) {
      if (collectors.has(name)) return;
      const options = words("", {
        server: url,
        "data-dir": collectorDir,
        ...(existsSync(ownerToken) ? { "token-file": ownerToken } : {}),
      }).slice(1);
      const start = () =>
        startChild(
          command(`collector-${name}`, [
            "collector",
            "run",
            name,
            ...options,
            // The machine is at other work, too: figures say so, and nothing waits for it to be quiet.
            "--flag-load",
            "--no-self-test",
          ]),
        );
      const onCollectorDeath = (how: string, ms: number) =>
        onDeath(`collector ${name}`, how, ms, logOf(`collector-${name}`));
      const collector = supervise({ start, onDeath: onCollectorDeath, graceMs: workerGraceMs });
      collectors.set(name, collector);
    },
    async stop() {
      await Promise.all([...supervised, ...collectors.values()].map((each) => each.stop()));
      await server.stop();
    },
    kill() {
      for (const each of [...supervised, ...collectors.values(), server]) each.kill();
    },
  };
}

function words(command: string, options: Record<string, string | number | undefined>): string[] {
  const given = Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, String(value)],
  );
  return [command, ...given];
}
