import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { rest } from "#core/resting.ts";
import { type GranaryPlace, ownVariables } from "#granary/config.ts";
import { connectToGranary, type GranaryClient } from "./granary-client.ts";

/** Node reads the program in a third of a second on a fast machine, in two on a slow and busy one. */
const startMs = 5_000;

/** Starts a granary that outlives this command; undefined when it does not answer in time. */
export async function startDaemon(
  place: GranaryPlace,
  entry: string,
  options: readonly string[],
): Promise<GranaryClient | undefined> {
  mkdirSync(place.dataDirectory, { recursive: true, mode: 0o700 });
  const log = openSync(join(place.dataDirectory, "log"), "a", 0o600);
  const words = [...process.execArgv, entry, "granary", "--data", place.dataDirectory, ...options];
  const child = spawn(process.execPath, words, {
    detached: true,
    stdio: ["ignore", log, log],
    cwd: place.dataDirectory,
    // One with a socket elsewhere would be nobody's.
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
  const until = performance.now() + startMs;
  while (performance.now() < until && !isOver) {
    await rest(25);
    const client = await connectToGranary(place.socketPath, 250);
    if (client !== undefined) return client;
  }
  return undefined;
}
