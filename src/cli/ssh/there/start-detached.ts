import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { Fault } from "#core/fault.ts";
import { identityOf } from "../../up/process-identity.ts";
import type { Started, WorkerSettings } from "../worker-settings.ts";
import { holdingLock } from "./holding-lock.ts";
import { WorkerFolder, type WorkerRecord } from "./worker-folder.ts";

const longestMs = 5_000;

const ReadyLine = z.union([
  z.object({ ready: z.literal(true) }),
  z.object({ ready: z.literal(false), error: z.object({ message: z.string() }) }),
]);

/**
 * Starts a worker in its own session, so that it outlives the caller.
 *
 * Resolves when the worker is ready. A worker that already runs with the same settings is left unchanged; with other
 * settings it is not replaced, because that would end its executions.
 */
export async function startDetached(
  directory: string,
  file: string,
  settings: WorkerSettings,
): Promise<Started> {
  const folder = new WorkerFolder(directory, settings.name);
  await folder.make();
  return holdingLock(folder.lockFile, settings.name, async () => {
    const running = await folder.running();
    if (running !== undefined) {
      refuseOther(running, file, settings, await folder.settings());
      await folder.keepServer(settings.server);
      const unreachable = await whyUnreachable(settings.server);
      return { kind: "already", pid: running.pid, unreachable };
    }
    await folder.keepSettings(settings);
    const child = spawnDetached(folder, directory, [
      file,
      "--settings",
      folder.settingsFile,
      "--log-level",
      settings.logLevel,
    ]);
    try {
      await recordAndWait(child, folder, file);
    } catch (reason) {
      child.kill("SIGKILL");
      throw reason;
    }
    const unreachable = await whyUnreachable(settings.server);
    return { kind: "started", pid: child.pid ?? 0, unreachable };
  });
}

function refuseOther(
  running: WorkerRecord,
  file: string,
  settings: WorkerSettings,
  itsSettings: WorkerSettings | undefined,
): void {
  const other =
    running.file !== file
      ? "of another version of Grange"
      : isDeepStrictEqual(comparable(itsSettings), comparable(settings))
        ? undefined
        : itsSettings !== undefined && !settings.tunnel && itsSettings.server !== settings.server
          ? `for ${itsSettings.server}`
          : "with other settings";
  if (other === undefined) return;
  throw new Fault(
    "failed_precondition",
    `a worker ${settings.name} ${other} is already running (process ${running.pid}, since ${running.since}). ` +
      "Stop it first with --stop, or give this one another --name",
  );
}

/** Each tunnel has another port, but the same farm. */
function comparable(settings: WorkerSettings | undefined): object | undefined {
  return settings?.tunnel === true ? { ...settings, server: "" } : settings;
}

function spawnDetached(
  folder: WorkerFolder,
  directory: string,
  args: readonly string[],
): ChildProcess {
  const log = openSync(folder.logFile, "a", 0o600);
  try {
    return spawn(process.execPath, args, {
      cwd: directory,
      // Its own session, so that the end of ssh's session does not affect it.
      detached: true,
      stdio: ["ignore", "pipe", log],
    });
  } finally {
    closeSync(log);
  }
}

/** The worker prints one line on stdout, whether it is ready; everything else is in its log. */
async function recordAndWait(
  child: ChildProcess,
  folder: WorkerFolder,
  file: string,
): Promise<void> {
  const firstOutput = firstLine(child);
  const identity = child.pid === undefined ? undefined : identityOf(child.pid);
  if (identity !== undefined)
    await folder.keepRecord({ ...identity, file, since: new Date().toISOString() });
  const line = ReadyLine.safeParse(JSON.parse(await firstOutput));
  child.stdout?.destroy();
  child.unref();
  if (line.success && line.data.ready) return;
  const why = line.success && !line.data.ready ? line.data.error.message : "it printed no reason";
  throw new Fault("failed_precondition", `the worker could not start: ${why}`);
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const gone = (why: string) =>
      reject(new Fault("failed_precondition", `the worker could not start: ${why}`));
    child.once("error", (cause) => gone(cause.message));
    child.once("exit", (code) => gone(`it ended with ${code ?? "a signal"}; see its log`));
    if (child.stdout) createInterface({ input: child.stdout }).once("line", resolve);
  });
}

/**
 * Returns why the farm's address is unreachable from this machine; null when it is reachable.
 *
 * The worker itself would retry silently, but the user who gave the address can still read the reason now.
 */
function whyUnreachable(server: string): Promise<string | null> {
  const { hostname, port, protocol } = new URL(server);
  const usual = protocol === "https:" ? 443 : 80;
  return new Promise((resolve) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ""),
      port: port === "" ? usual : Number(port),
      timeout: longestMs,
    });
    const end = (why: string | null) => {
      socket.destroy();
      resolve(why);
    };
    socket.once("connect", () => end(null));
    socket.once("timeout", () => end(`no answer within ${longestMs / 1_000} s`));
    socket.once("error", (error) => end(error.message));
  });
}
