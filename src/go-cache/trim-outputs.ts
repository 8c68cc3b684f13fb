import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { actionsIn, outputOfActionFile, outputsIn } from "./local-outputs.ts";

/** As Go's own cache. */
const unusedMs = 5 * 86_400_000;
const everyMs = 86_400_000;
/** A file without an action may be one that a go command is about to record. */
const settledMs = 3_600_000;

/**
 * Removes entries that no go command used for five days, with their outputs; at most once a day. Several processes may
 * do it at the same time. A removed entry costs only time.
 */
export async function trimOutputs(
  directory: string,
  nowMs: number,
  signal: AbortSignal,
): Promise<void> {
  const mark = join(directory, "trimmed");
  const last = await stat(mark).catch(() => undefined);
  if (last !== undefined && nowMs - last.mtimeMs < everyMs) return;
  await writeFile(mark, "");
  const used = new Set<string>();
  for await (const path of filesBelow(actionsIn(directory), signal)) {
    if (await isOlder(path, nowMs - unusedMs)) await rm(path, { force: true });
    else used.add(outputOfActionFile(await readFile(path, "utf8").catch(() => "")) ?? "");
  }
  // Only a complete list of the used outputs shows which are unused.
  if (signal.aborted) return;
  for await (const path of filesBelow(outputsIn(directory), signal)) {
    const isUsed = used.has(path.slice(path.lastIndexOf("/") + 1));
    if (!isUsed && (await isOlder(path, nowMs - settledMs))) await rm(path, { force: true });
  }
  for await (const path of filesIn(join(directory, "temp"), signal)) {
    if (await isOlder(path, nowMs - settledMs)) await rm(path, { force: true });
  }
}

async function* filesBelow(directory: string, signal: AbortSignal): AsyncGenerator<string> {
  for await (const folder of filesIn(directory, signal)) yield* filesIn(folder, signal);
}

async function* filesIn(directory: string, signal: AbortSignal): AsyncGenerator<string> {
  for (const name of await readdir(directory).catch(() => [])) {
    if (signal.aborted) return;
    yield join(directory, name);
  }
}

async function isOlder(path: string, thanMs: number): Promise<boolean> {
  const file = await stat(path).catch(() => undefined);
  return file !== undefined && file.mtimeMs < thanMs;
}
