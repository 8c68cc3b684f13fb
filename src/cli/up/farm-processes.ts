import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { Fault } from "#core/fault.ts";
import type { Service } from "#core/service.ts";
import { jsonOr } from "../api/api-failure.ts";
import { type Child, startChild } from "./child.ts";
import type { LocalWorker } from "./local-workers.ts";
import { type Supervised, supervise } from "./supervise.ts";

/** The only line that `grange server` prints: that it is ready, or why it could not start. */
const ServerReady = z.discriminatedUnion("ready", [
  z.object({ ready: z.literal(true), url: z.url(), databaseMs: z.number() }),
  z.object({ ready: z.literal(false), error: z.object({ message: z.string() }) }),
]);

type ServerReady = z.infer<typeof ServerReady>;

interface FarmProcesses extends Service {
  readonly url: string;
  /** The time until the database answered, and the time of the rest of the server's start. */
  readonly startedInMs: { readonly database: number; readonly server: number };
  /** Starts a collector of benchmarks in addition to the workers, unless it was started before. */
  startCollector(name: string, dataDir: string): void;
  /** Kills all processes at once. */
  kill(): void;
}

interface FarmOptions {
  /** Node's arguments that run `grange`; the command follows them. */
  readonly grange: readonly string[];
  readonly dataDir: string;
  readonly logs: string;
  readonly port: number;
  /** As the user wrote it; the server parses it, or GRANGE_STORE_LIMIT. */
  readonly storeLimit: string | undefined;
  /** The file of an additional authority that the workers trust. */
  readonly ca: string | undefined;
  readonly workers: readonly LocalWorker[];
  readonly onDeath: (name: string, how: string, restartInMs: number, logFile: string) => void;
}

/** Workers first, then the server: together less than the five seconds allowed after Ctrl-C. */
const workerGraceMs = 1_500;
const serverGraceMs = 2_500;

/**
 * Starts a server and its workers as processes, and keeps them running.
 *
 * Workers load their code while the server starts, and then get its address.
 */
export async function startFarmProcesses(options: FarmOptions): Promise<FarmProcesses> {
  const { grange, dataDir, logs, workers, onDeath } = options;
  const logOf = (name: string) => join(logs, `${name}.log`);
  const start = (name: string, args: readonly string[]) =>
    startChild({
      program: process.execPath,
      args: [...grange, ...args, "--end-with-parent"],
      logFile: logOf(name),
    });
  const startServer = (port: number) =>
    start("server", [
      ...words("server", { data: dataDir, port, "store-limit": options.storeLimit }),
      "--owner-token",
    ]);
  const startWorker = (worker: LocalWorker, how: readonly string[]) =>
    start(`worker-${worker.name}`, [...wordsForWorker(worker, options), ...how]);

  const started = performance.now();
  const first = startServer(options.port);
  const early = workers.map((worker) => startWorker(worker, ["--farm-from-stdin"]));
  let url: string;
  let databaseMs: number;
  try {
    ({ url, databaseMs } = await untilServerReady(first, logOf("server")));
  } catch (cause) {
    for (const worker of early) worker.kill();
    await first.stop(serverGraceMs);
    throw cause;
  }
  const startedInMs = { database: databaseMs, server: performance.now() - started - databaseMs };
  // The server creates it, so that workers continue when the farm is closed for strangers.
  const workerToken = join(dataDir, "worker-token");
  const tokenFile = existsSync(workerToken) ? workerToken : undefined;
  for (const worker of early) worker.send(JSON.stringify({ server: url, tokenFile }));

  // After a restart it must have the same address, even if the first port was arbitrary.
  const port = Number(new URL(url).port);
  const server = supervise(
    {
      start: () => startServer(port),
      onDeath: (how, ms) => onDeath("server", how, ms, logOf("server")),
      graceMs: serverGraceMs,
    },
    first,
  );
  const whereItIs = flags({ server: url, "token-file": tokenFile });
  const supervised: Supervised[] = workers.map((worker, index) =>
    supervise(
      {
        start: () => startWorker(worker, whereItIs),
        onDeath: (how, ms) =>
          onDeath(`worker ${worker.name}`, how, ms, logOf(`worker-${worker.name}`)),
        graceMs: workerGraceMs,
      },
      early[index],
    ),
  );
  const collectors = new Map<string, Supervised>();
  // The collector uses the owner's token, because it needs a right that workers do not have.
  const ownerToken = join(dataDir, "owner-token");
  return {
    url,
    startedInMs,
    startCollector(name, collectorDir) {
      if (collectors.has(name)) return;
      const startCollector = () =>
        start(`collector-${name}`, [
          "collector",
          "run",
          name,
          ...flags({
            server: url,
            "data-dir": collectorDir,
            "token-file": existsSync(ownerToken) ? ownerToken : undefined,
          }),
          // The machine also does other work: figures are marked, and measurements do not wait for a quiet machine.
          "--flag-load",
          "--no-self-test",
        ]);
      const onCollectorDeath = (how: string, ms: number) =>
        onDeath(`collector ${name}`, how, ms, logOf(`collector-${name}`));
      const collector = supervise({
        start: startCollector,
        onDeath: onCollectorDeath,
        graceMs: workerGraceMs,
      });
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

function wordsForWorker(
  { name, sizeClass, slots, cpus, memoryBytes }: LocalWorker,
  { dataDir, ca }: FarmOptions,
): string[] {
  return words("worker", {
    name,
    "size-class": sizeClass,
    slots,
    cpus,
    memory: memoryBytes === "all" ? "all" : `${memoryBytes}B`,
    // They share a directory, so that each blob is fetched once.
    data: join(dataDir, "worker"),
    hide: dataDir,
    ca,
  });
}

function words(command: string, options: Record<string, string | number | undefined>): string[] {
  return [command, ...flags(options)];
}

function flags(options: Record<string, string | number | undefined>): string[] {
  return Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, String(value)],
  );
}

/** Waits until a new server is ready; returns its address, and how long its database took. */
async function untilServerReady(
  child: Child,
  logFile: string,
): Promise<{ readonly url: string; readonly databaseMs: number }> {
  const printed = (async () => {
    for await (const line of child.lines) {
      const parsed = ServerReady.safeParse(jsonOr(line, undefined));
      if (parsed.success) return parsed.data;
    }
    return undefined;
  })();
  const said = await printed;
  if (said?.ready === true) return said;
  const why = said?.error.message ?? `it exited (${await child.ended}); its log is ${logFile}`;
  throw new Fault("failed_precondition", `the server did not start: ${why}`);
}
