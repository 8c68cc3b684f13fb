import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chown, lstat, mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { Fault, messageOf } from "#core/fault.ts";
import type { Service } from "#core/service.ts";
import { findBinaries } from "./binaries.ts";
import { keepRunning, type StartedProcess } from "./keep-running.ts";
import { chooseRunAs, type RunAs } from "./run-as.ts";
import { serverSettings } from "./server-settings.ts";

export interface EmbeddedPostgres extends Service {
  /** For `openPostgres`; the same for the life of the data directory. */
  readonly url: string;
  readonly pid: () => number | undefined;
}

export interface EmbeddedOptions {
  /** Made when it does not exist. */
  readonly dataDir: string;
  /** Told when the server ends by itself; it is then started again. */
  readonly onRestart?: (why: string) => void;
  /** Trades durability for speed; for tests that make and forget databases. */
  readonly unsafeFast?: boolean;
}

const user = "grange";
/** PostgreSQL's fast shutdown: clients are cut off, data is flushed. */
const stopSignal = "SIGINT";
/** An earlier server flushes what it has; one that takes longer than this hangs. */
const earlierEndsWithinMs = 60_000;
const readyWithinMs = 60_000;

/**
 * Starts PostgreSQL from its npm package, and keeps it running until stopped.
 *
 * It listens on a Unix socket only. The socket's directory lies in the temporary
 * directory, because a socket's path may not exceed 107 bytes and a data
 * directory's may.
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const binaries = await findBinaries();
  const runAs = chooseRunAs();
  const dataDir = join(options.dataDir, "pgdata");
  const socketDir = socketDirOf(dataDir);
  await prepareDirectories(options.dataDir, socketDir, runAs);
  if (!existsSync(join(dataDir, "PG_VERSION"))) await initialise(binaries.initdb, dataDir, runAs);

  const url = `postgres:///postgres?host=${encodeURIComponent(socketDir)}&user=${user}`;
  const logFile = join(options.dataDir, "postgres.log");

  const start = async (): Promise<StartedProcess> => {
    const log = await open(logFile, "a");
    try {
      const settings = serverSettings({ socketDir, unsafeFast: options.unsafeFast ?? false });
      const command = runAs.wrap([binaries.postgres, "-D", dataDir, ...settings]);
      return await spawned(command, log.fd);
    } finally {
      await log.close();
    }
  };

  await endEarlierServer(dataDir);
  const kept = await keepRunning(start, stopSignal, (why) =>
    options.onRestart?.(`PostgreSQL: ${why}`),
  );
  const stop = async () => {
    await kept.stop();
    await rm(socketDir, { recursive: true, force: true });
  };
  try {
    await untilReady(url, logFile);
  } catch (cause) {
    await stop();
    throw cause;
  }
  return { url, pid: () => kept.pid(), stop };
}

/** Resolves when the process is there; a program that cannot be run throws. */
function spawned(command: readonly string[], log: number): Promise<StartedProcess> {
  return new Promise((resolve, reject) => {
    const child = spawn(command[0] ?? "", command.slice(1), {
      stdio: ["ignore", log, log],
      // Ctrl-C in a terminal reaches the whole group; the server must outlive its clients.
      detached: true,
    });
    const ended = new Promise<void>((end) => child.once("exit", () => end()));
    child.once("error", reject);
    child.once("spawn", () => resolve({ pid: child.pid ?? 0, ended }));
  });
}

/**
 * Ends a PostgreSQL that outlived its Grange.
 *
 * The caller holds the data directory's lock, so no other Grange uses that server.
 * It is told to stop again and again, for it ignores a signal that comes while it
 * starts; and it is waited for, because its `postmaster.pid` blocks the next one.
 */
async function endEarlierServer(dataDir: string): Promise<void> {
  const deadline = Date.now() + earlierEndsWithinMs;
  for (;;) {
    const lock = await readFile(join(dataDir, "postmaster.pid"), "utf8").catch(() => "");
    const pid = Number.parseInt(lock, 10);
    const commandLine = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (!commandLine.includes(dataDir)) return;
    if (Date.now() > deadline) {
      throw new Fault(
        "unavailable",
        `an earlier PostgreSQL (process ${pid}) still works in ${dataDir} and does not end; end it, then start again`,
      );
    }
    try {
      process.kill(pid, stopSignal);
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function socketDirOf(dataDir: string): string {
  const id = createHash("sha256").update(dataDir).digest("hex").slice(0, 16);
  return join(tmpdir(), `grange-pg-${process.getuid?.() ?? 0}-${id}`);
}

async function prepareDirectories(parent: string, socketDir: string, runAs: RunAs): Promise<void> {
  try {
    await mkdir(parent, { recursive: true });
    await mkdir(socketDir, { recursive: true, mode: 0o700 });
    await requireOurs(socketDir, runAs);
    if (runAs.owner !== undefined) {
      await chown(parent, runAs.owner.uid, runAs.owner.gid);
      await chown(socketDir, runAs.owner.uid, runAs.owner.gid);
    }
  } catch (cause) {
    throw new Fault(
      "failed_precondition",
      `cannot write to the data directory ${parent}: ${messageOf(cause)}. ` +
        "Make it writable, or name another in GRANGE_DATA",
      { cause },
    );
  }
}

/** Its name can be guessed, and the temporary directory is everybody's: another user may have made it. */
async function requireOurs(socketDir: string, runAs: RunAs): Promise<void> {
  const found = await lstat(socketDir);
  const ours = [process.getuid?.(), runAs.owner?.uid].includes(found.uid);
  if (!found.isDirectory() || !ours || (found.mode & 0o077) !== 0) {
    throw new Error(`${socketDir} belongs to somebody else; remove it`);
  }
}

/** Makes the cluster beside its place and renames it, so that a crash leaves none half made. */
async function initialise(initdb: string, dataDir: string, runAs: RunAs): Promise<void> {
  const making = `${dataDir}.making`;
  await rm(making, { recursive: true, force: true });
  await mkdir(making, { mode: 0o700 });
  if (runAs.owner !== undefined) await chown(making, runAs.owner.uid, runAs.owner.gid);
  const command = runAs.wrap([
    initdb,
    "-D",
    making,
    "-U",
    user,
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C",
    "--no-instructions",
  ]);
  const output: Buffer[] = [];
  const child = spawn(command[0] ?? "", command.slice(1), { stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => output.push(chunk));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("close", resolve);
    child.once("error", reject);
  });
  if (code !== 0) {
    throw new Fault(
      "failed_precondition",
      `PostgreSQL could not make its files in ${dataDir}: ${Buffer.concat(output).toString().trim()}`,
    );
  }
  await rename(making, dataDir);
}

/**
 * Waits until the server answers.
 *
 * After a crash an earlier server may still hold the directory for a moment (it is
 * shutting down, or not yet reaped); ours then ends and is launched again.
 */
async function untilReady(url: string, logFile: string): Promise<void> {
  const deadline = Date.now() + readyWithinMs;
  let last: unknown;
  while (Date.now() < deadline) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
    client.on("error", () => {});
    try {
      await client.connect();
      await client.query("select 1");
      return;
    } catch (cause) {
      last = cause;
      await new Promise((resolve) => setTimeout(resolve, 20));
    } finally {
      await client.end().catch(() => {});
    }
  }
  throw new Fault(
    "unavailable",
    `PostgreSQL did not start within ${readyWithinMs / 1_000} s (${messageOf(last)}). Its log ends: ${await tailOf(logFile)}`,
    { cause: last },
  );
}

async function tailOf(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.split("\n").slice(-8).join("\n");
}
