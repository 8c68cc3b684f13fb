import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import {
  chmod,
  chown,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import pg from "pg";
import { Fault, messageOf } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import type { Service } from "#core/service.ts";
import { findBinaries } from "./binaries.ts";
import { lockCluster } from "./cluster-lock.ts";
import { endPostgres, type StopStep, stopStepsOfEarlier } from "./end-postgres.ts";
import { keepRunning, type StartedProcess } from "./keep-running.ts";
import { removeLockOfZombie } from "./leftovers.ts";
import { keepLogSmall, rotateClosedLog } from "./log-file.ts";
import { chooseRunAs, type RunAs } from "./run-as.ts";
import { serverSettings } from "./server-settings.ts";

export interface EmbeddedPostgres extends Service {
  /** For `openPostgres`; it never changes for a data directory. */
  readonly url: string;
  readonly pid: () => number | undefined;
}

export interface EmbeddedOptions {
  /** Created when it does not exist. */
  readonly dataDir: string;
  /** Called when the server ends by itself; it is then started again. */
  readonly onRestart?: (why: string) => void;
  /** Called once when PostgreSQL recovers after a crash, which may take minutes. */
  readonly onRecovery?: () => void;
  /** Trades durability for speed; for tests with temporary databases. */
  readonly unsafeFast?: boolean;
  /** How PostgreSQL is stopped; tests use shorter limits. */
  readonly stopSteps?: readonly StopStep[];
}

const user = "grange";
const readyWithinMs = 60_000;
/** Recovery reads the write-ahead log since the last checkpoint: up to 1 GB, also on a slow disk. In ms. */
const recoveredWithinMs = 15 * 60_000;
/** A shorter recovery is not logged. */
const recoveryToldAfterMs = 1_000;
/** PostgreSQL's error code while it starts, stops or recovers: `cannot_connect_now`. */
const cannotConnectNow = "57P03";

/**
 * Starts PostgreSQL from its npm package, and keeps it running until stopped.
 *
 * It listens on a Unix socket only. The socket is in the temporary directory, because a socket's path must not exceed
 * 107 bytes, which a data directory's path may.
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const binaries = await findBinaries();
  const runAs = chooseRunAs();
  const dataDir = join(options.dataDir, "pgdata");
  const socketDir = socketDirOf(dataDir);
  await prepareDirectories(options.dataDir, socketDir, runAs);
  if (!existsSync(join(dataDir, versionFile))) await initialise(binaries.initdb, dataDir, runAs);

  const url = `postgres:///postgres?host=${encodeURIComponent(socketDir)}&user=${user}`;
  const logFile = join(options.dataDir, "postgres.log");

  await endEarlierServer(dataDir, options.stopSteps);
  const start = async (): Promise<StartedProcess> => {
    const lock = await lockCluster(options.dataDir);
    for (const path of [join(dataDir, "postmaster.pid"), join(socketDir, socketLock)])
      await removeLockOfZombie(path);
    const log = await open(logFile, "a");
    try {
      const settings = serverSettings({ socketDir, unsafeFast: options.unsafeFast ?? false });
      const command = runAs.wrap([binaries.postgres, "-D", dataDir, ...settings]);
      return await spawned(command, log.fd, lock.file);
    } finally {
      await log.close();
      // The processes that inherited the lock hold it now.
      lock.release();
    }
  };

  await rotateClosedLog(logFile);
  const kept = await keepRunning(
    start,
    (running) => end(running, options.stopSteps),
    (why) => options.onRestart?.(`PostgreSQL: ${why}`),
  );
  const small = keepLogSmall(logFile);
  const stop = async () => {
    await kept.stop();
    await small.stop();
    await rm(socketDir, { recursive: true, force: true });
  };
  try {
    await untilReady(url, logFile, options.onRecovery ?? (() => {}));
  } catch (cause) {
    await stop();
    throw cause;
  }
  return { url, pid: () => kept.pid(), stop };
}

/** Resolves when the process has started; throws when the program cannot be run. */
function spawned(command: readonly string[], log: number, lock: number): Promise<StartedProcess> {
  return new Promise((resolve, reject) => {
    const child = spawn(command[0] ?? "", command.slice(1), {
      stdio: ["ignore", log, log, lock],
      // Ctrl-C in a terminal reaches the whole group; the server must outlive its clients.
      detached: true,
    });
    const ended = new Promise<void>((end) => child.once("exit", () => end()));
    child.once("error", reject);
    child.once("spawn", () => resolve({ pid: child.pid ?? 0, ended }));
  });
}

async function end(running: StartedProcess, steps?: readonly StopStep[]): Promise<void> {
  const gone = new AbortController();
  void running.ended.then(() => gone.abort());
  await endPostgres(running.pid, () => gone.signal.aborted, steps, gone.signal);
}

/**
 * Ends a PostgreSQL that outlived its Grange.
 *
 * The caller holds the data directory's lock, so no other Grange uses that server. It is waited for, because its
 * `postmaster.pid` blocks the next one.
 */
async function endEarlierServer(
  dataDir: string,
  steps: readonly StopStep[] = stopStepsOfEarlier,
): Promise<void> {
  const pid = await earlierServer(dataDir);
  if (pid === undefined) return;
  const hasEnded = async () => (await earlierServer(dataDir)) !== pid;
  if (await endPostgres(pid, hasEnded, steps)) return;
  throw new Fault(
    "unavailable",
    `an earlier PostgreSQL (process ${pid}) still works in ${dataDir} and cannot be ended; end it, then start again`,
  );
}

async function earlierServer(dataDir: string): Promise<number | undefined> {
  const lock = await readFile(join(dataDir, "postmaster.pid"), "utf8").catch(() => "");
  const pid = Number.parseInt(lock, 10);
  const commandLine = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return commandLine.includes(dataDir) ? pid : undefined;
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

/** Its name can be guessed, and all users may write to the temporary directory, so another user may have created it. */
async function requireOurs(socketDir: string, runAs: RunAs): Promise<void> {
  const found = await lstat(socketDir);
  const ours = [process.getuid?.(), runAs.owner?.uid].includes(found.uid);
  if (!found.isDirectory() || !ours || (found.mode & 0o077) !== 0) {
    throw new Error(`${socketDir} belongs to somebody else; remove it`);
  }
}

/** The lock beside the socket of the default port. It names the same process as `postmaster.pid`. */
const socketLock = ".s.PGSQL.5432.lock";

/** A directory with this file has a cluster. */
const versionFile = "PG_VERSION";

/**
 * Creates the cluster in a temporary directory and renames it, so that a crash leaves no incomplete cluster. A file
 * system that is mounted at `dataDir` cannot be replaced: its directory is then filled, with the file last that a cluster
 * is recognised by.
 */
async function initialise(initdb: string, dataDir: string, runAs: RunAs): Promise<void> {
  const isMounted = await isMountPoint(dataDir);
  // PostgreSQL refuses a directory of another user, or one that others may read.
  if (isMounted && runAs.owner !== undefined)
    await chown(dataDir, runAs.owner.uid, runAs.owner.gid);
  if (isMounted) await chmod(dataDir, 0o700);
  const making = isMounted ? join(dataDir, "making") : `${dataDir}.making`;
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
  if (isMounted) await moveInto(dataDir, making);
  else await rename(making, dataDir);
}

async function isMountPoint(path: string): Promise<boolean> {
  const here = await stat(path).catch(() => undefined);
  return here !== undefined && here.dev !== (await stat(dirname(path))).dev;
}

/** Files of an earlier attempt that ended in between have the same names, and are replaced. */
async function moveInto(dataDir: string, making: string): Promise<void> {
  const names = (await readdir(making)).filter((name) => name !== versionFile);
  for (const name of [...names, versionFile]) {
    await rm(join(dataDir, name), { recursive: true, force: true });
    await rename(join(making, name), join(dataDir, name));
  }
  await rm(making, { recursive: true, force: true });
}

/**
 * Waits until the server responds, and longer while it reports that it recovers.
 *
 * After a crash an earlier server may still hold the directory for a moment (it is shutting down, or not yet reaped);
 * ours then ends and is launched again.
 */
async function untilReady(url: string, logFile: string, onRecovery: () => void): Promise<void> {
  const started = Date.now();
  let silentSince = started;
  let isTold = false;
  let last: unknown;
  while (Date.now() - silentSince < readyWithinMs && Date.now() - started < recoveredWithinMs) {
    last = await failureToConnect(url);
    if (last === undefined) return;
    if (last instanceof pg.DatabaseError && last.code === cannotConnectNow) {
      silentSince = Date.now();
      if (!isTold && Date.now() - started > recoveryToldAfterMs) {
        isTold = true;
        onRecovery();
      }
    }
    await rest(20);
  }
  const seconds = Math.round((Date.now() - started) / 1_000);
  throw new Fault(
    "unavailable",
    `PostgreSQL did not start within ${seconds} s (${messageOf(last)}). Its log ends: ${await tailOf(logFile)}`,
    { cause: last },
  );
}

/** Returns undefined when the server responds. */
async function failureToConnect(url: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("select 1");
    return undefined;
  } catch (cause) {
    return cause ?? new Error("no answer");
  } finally {
    await client.end().catch(() => {});
  }
}

async function tailOf(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.split("\n").slice(-8).join("\n");
}
