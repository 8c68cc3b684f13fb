import { randomUUID } from "node:crypto";
import { link, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { Fault } from "#core/fault.ts";
import { identityOf, isRunning } from "../../up/process-identity.ts";

/**
 * Two who start a worker at once would both find none and start two.
 *
 * The lock is the file `PATH.N` of the greatest N, for as long as the process runs that is named in it. That
 * one is never removed, only followed by the next: of two who find a dead one's lock, the second would
 * otherwise remove the lock of the first.
 */
export async function holdingLock<Result>(
  path: string,
  name: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const lock = await take(path, name);
  try {
    return await work();
  } finally {
    await truncate(lock);
  }
}

async function take(path: string, name: string): Promise<string> {
  for (;;) {
    const last = await lastOf(path);
    if (await isHeld(`${path}.${last}`)) {
      throw new Fault(
        "failed_precondition",
        `somebody else is starting the worker ${name} there at this moment; try again`,
      );
    }
    const next = last + 1;
    const lock = `${path}.${next}`;
    if (!(await isMade(lock))) continue;
    if ((await lastOf(path)) === next) {
      await removeBefore(path, next);
      return lock;
    }
    // Meanwhile others came and went, and what they left of this number was cleared away.
    await rm(lock, { force: true });
  }
}

/** False when there is one. It appears whole: one that is empty would be taken for nobody's. */
async function isMade(lock: string): Promise<boolean> {
  const whole = `${lock}.${randomUUID()}`;
  await writeFile(whole, JSON.stringify(identityOf(process.pid)), { mode: 0o600 });
  try {
    await link(whole, lock);
    return true;
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "EEXIST") return false;
    throw cause;
  } finally {
    await rm(whole, { force: true });
  }
}

async function numbersOf(path: string): Promise<number[]> {
  const names = await readdir(dirname(path));
  return names
    .filter((name) => name.startsWith(`${basename(path)}.`))
    .map((name) => name.slice(basename(path).length + 1))
    .filter((number) => /^\d{1,15}$/.test(number))
    .map(Number);
}

async function lastOf(path: string): Promise<number> {
  return Math.max(0, ...(await numbersOf(path)));
}

async function removeBefore(path: string, number: number): Promise<void> {
  for (const each of await numbersOf(path))
    if (each < number) await rm(`${path}.${each}`, { force: true });
}

/** False for what was given back, and for what a dead process left, whole or not. */
async function isHeld(lock: string): Promise<boolean> {
  try {
    const { pid, startTime } = JSON.parse(await readFile(lock, "utf8")) as {
      pid: number;
      startTime: string;
    };
    return isRunning({ pid, startTime });
  } catch {
    return false;
  }
}
