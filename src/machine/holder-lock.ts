import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { Fault, messageOf } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import { isAlive, ownOwner } from "./owner.ts";

/**
 * Removing the lock of somebody who is gone can, for a moment, move away the lock of somebody who is not: it
 * is put back at once, but a third may have come in between. Who took a lock looks again after this time.
 */
const settleMs = 20;

export interface HeldLock {
  release(): Promise<void>;
}

/** Who holds a lock: what it said of itself, and its process. */
export interface Holder {
  readonly name: string;
  readonly pid: number;
}

/**
 * A lock on disk that ends with the process that holds it, also by kill -9: a file made by linking, which fails
 * when it exists, with its owner in it.
 *
 * Answers who has it when it is taken.
 */
export async function takeLock(
  path: string,
  name: string,
): Promise<{ readonly lock: HeldLock } | { readonly holder: Holder }> {
  const text = `${ownOwner()}\n${name}\n${randomUUID()}\n`;
  const mine = besides(path);
  try {
    await writeFile(mine, text, { flag: "wx", mode: 0o644 });
    for (;;) {
      const held = await linked(mine, path);
      if (held === undefined) {
        await rest(settleMs);
        if ((await textOf(path)) === text) return { lock: { release: () => release(path, text) } };
        continue;
      }
      const holder = livingHolder(held);
      if (holder) return { holder };
      await removeStale(path, held);
    }
  } catch (cause) {
    const why = messageOf(cause);
    throw new Fault("failed_precondition", `cannot make the lock ${path}: ${why}`, { cause });
  } finally {
    await rm(mine, { force: true });
  }
}

/** Undefined when nobody alive has the lock. Cheap where there is none. */
export function holderOf(path: string): Holder | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return livingHolder(readFileSync(path, "utf8"));
  } catch {
    // Released this moment.
    return undefined;
  }
}

/** What stands in the lock already; undefined when it is ours now. */
async function linked(mine: string, path: string): Promise<string | undefined> {
  for (;;) {
    try {
      await link(mine, path);
      return undefined;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    }
    const held = await textOf(path);
    if (held !== undefined) return held;
  }
}

async function removeStale(path: string, held: string): Promise<void> {
  const aside = besides(path);
  try {
    await rename(path, aside);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return;
    throw cause;
  }
  if ((await textOf(aside)) !== held) await link(aside, path).catch(() => {});
  await rm(aside, { force: true });
}

/** A file of ours beside the lock, for a moment; its name says whose it was, should we be killed meanwhile. */
function besides(path: string): string {
  return `${path}.${ownOwner()}-${randomUUID()}`;
}

async function release(path: string, text: string): Promise<void> {
  if ((await textOf(path)) === text) await rm(path, { force: true });
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw cause;
  }
}

function livingHolder(text: string): Holder | undefined {
  const [owner = "", name = ""] = text.split("\n");
  if (!/^\d+-\w+-\d+$/.test(owner) || !isAlive(owner)) return undefined;
  return { name, pid: Number.parseInt(owner, 10) };
}
