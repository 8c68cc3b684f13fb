import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { Fault } from "#core/fault.ts";
import { isAlive, markOfProcess } from "./process-mark.ts";

/** Between two looks at a lock that another holds: processes of other programs tell us nothing. */
const pollMs = 100;
let taken = 0;

/**
 * Does the work while no other holds the lock, in this process or another one of this machine. A holder that
 * was killed holds nothing.
 */
export async function holdingLock<T>(
  file: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const mark = `${markOfProcess(process.pid)}-${taken++}`;
  const own = `${file}.${mark}`;
  await writeFile(own, mark);
  try {
    while (!(await take(own, file))) {
      if (await takeAwayFromDead(file, own)) continue;
      await sleep(pollMs, undefined, { signal }).catch((cause: unknown) => {
        throw new Fault("cancelled", "waiting for another process was cancelled", { cause });
      });
    }
  } finally {
    await rm(own, { force: true });
  }
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

/** By linking, which fails when the lock is there, and is never seen half. */
async function take(own: string, file: string): Promise<boolean> {
  try {
    await link(own, file);
    return true;
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw reason;
  }
}

async function takeAwayFromDead(file: string, own: string): Promise<boolean> {
  const holder = await contentOf(file);
  if (holder === undefined) return true;
  if (isAlive(holder)) return false;
  const away = `${own}.dead`;
  await rename(file, away).catch(() => {});
  // Another may have done so before us, and what we took is a lock that is held: back with it.
  const took = await contentOf(away);
  if (took !== undefined && took !== holder) await link(away, file).catch(() => {});
  await rm(away, { force: true });
  return true;
}

async function contentOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch {
    return undefined;
  }
}
