import { randomUUID } from "node:crypto";
import { open, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { errnoOf } from "#cas/disk-fault.ts";

/** Whoever has it says so again every minute; then it is nobody's. */
const silentAfterMs = 10 * 60_000;
const saidEveryMs = 60_000;

/**
 * Does something while no other process of those who share a directory does; undefined when one does.
 *
 * A file, not a lock in the database: the round may take long, and no transaction should. Two at once would harm
 * nothing; they would only do the same work.
 */
export async function oneAtATime<T>(lock: string, work: () => Promise<T>): Promise<T | undefined> {
  const mine = `${process.pid} ${Date.now()} ${Math.random()}\n`;
  if (!(await take(lock, mine))) return undefined;
  const saying = setInterval(() => {
    const now = new Date();
    utimes(lock, now, now).catch(() => {});
  }, saidEveryMs);
  saying.unref();
  try {
    return await work();
  } finally {
    clearInterval(saying);
    if ((await readFile(lock, "utf8").catch(() => "")) === mine) await rm(lock, { force: true });
  }
}

async function take(lock: string, mine: string): Promise<boolean> {
  const found = await stat(lock).catch(absent);
  if (found !== undefined) {
    if (Date.now() - found.mtimeMs < silentAfterMs) return false;
    // Of several who find it silent, one moves it away.
    const away = `${lock}.${randomUUID()}`;
    await rename(lock, away).catch(absent);
    await rm(away, { force: true });
  }
  const file = await open(lock, "wx").catch((reason: unknown) => {
    if (errnoOf(reason) === "EEXIST") return undefined;
    throw reason;
  });
  if (file === undefined) return false;
  try {
    await file.writeFile(mine);
  } finally {
    await file.close();
  }
  return true;
}

function absent(reason: unknown): undefined {
  if (errnoOf(reason) !== "ENOENT") throw reason;
  return undefined;
}
