import { spawn } from "node:child_process";
import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Fault, messageOf } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import { type GranaryPlace, ownVariables } from "#granary/config.ts";
import { makeDirectory } from "#machine/make-directory.ts";
import { grangeCommand } from "../up/grange-command.ts";
import { connectToGranary, type GranaryClient, type ReadAnswer } from "./granary-client.ts";
import { optimizeLaterFlag } from "./optimize-later.ts";

/** Node loads the program in a third of a second on a fast machine, in two on a slow and busy one. */
const builtStartMs = 5_000;
/** Sources are translated first. */
const sourcesStartMs = 20_000;

/**
 * Starts a granary that outlives this command; throws `unavailable` with the reason when it cannot start, or does not
 * answer in time.
 */
export async function startDaemon(
  place: GranaryPlace,
  entry: string,
  options: readonly string[],
  read: ReadAnswer,
): Promise<GranaryClient> {
  try {
    makeDirectory(place.dataDirectory, 0o700);
  } catch (cause) {
    const why = `the data directory ${place.dataDirectory} cannot be created (${messageOf(cause)})`;
    throw new Fault("failed_precondition", `${why}; choose another with --data`, { cause });
  }
  const logFile = join(place.dataDirectory, "log");
  const log = openSync(logFile, "a", 0o600);
  const before = fstatSync(log).size;
  // With this flag from its start, the code cache of a daemon is valid for the next one.
  const flag = optimizeLaterFlag(process.versions.node);
  const words = [
    ...process.execArgv,
    ...(flag === undefined ? [] : [flag]),
    ...grangeCommand(entry),
    "granary",
    "--data",
    place.dataDirectory,
    ...options,
  ];
  const child = spawn(process.execPath, words, {
    detached: true,
    stdio: ["ignore", log, log],
    cwd: place.dataDirectory,
    // A granary with a different socket would not be found.
    env: { ...ownVariables(), GRANGE_GRANARY_SOCKET: place.socketPath },
  });
  closeSync(log);
  child.unref();
  let isOver = false;
  child.once("exit", () => {
    isOver = true;
  });
  child.once("error", () => {
    isOver = true;
  });
  const startMs = entry.endsWith(".ts") ? sourcesStartMs : builtStartMs;
  const until = performance.now() + startMs;
  while (performance.now() < until) {
    await rest(25);
    const client = await connectToGranary(place.socketPath, 250, read);
    if (typeof client !== "string") return client;
    if (!isOver) continue;
    const why = lastWords(readFileSync(logFile, "utf8").slice(before));
    // Another build was first: its granary will soon listen.
    if (why?.includes(" already ") !== true) {
      throw new Fault(
        "unavailable",
        `${noneStarts}${why === undefined ? `; the reason is in ${logFile}` : `: ${why}`}`,
      );
    }
  }
  throw new Fault("unavailable", `${noneStarts} in ${startMs / 1_000} s; its log is ${logFile}`);
}

const noneStarts = "no granary is running, and none could be started";

/** Returns the message of a granary that did not become ready. */
export function lastWords(log: string): string | undefined {
  const line = log.split("\n").findLast((text) => text.startsWith('{"ready":false'));
  try {
    const readyLine = JSON.parse(line ?? "null") as { error?: { message?: unknown } } | null;
    return typeof readyLine?.error?.message === "string" ? readyLine.error.message : undefined;
  } catch {
    return undefined;
  }
}
