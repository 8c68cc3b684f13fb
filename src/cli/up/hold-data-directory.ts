import { randomUUID } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { z } from "zod";
import { Fault, messageOf } from "#core/fault.ts";
import { holderOf, takeLock } from "#machine/holder-lock.ts";
import { makeDirectory, makePrivateDirectory } from "#machine/make-directory.ts";
import { jsonOr } from "../api/api-failure.ts";

export interface HeldDataDirectory {
  readonly path: string;
  readonly logs: string;
  /** Records the farm's address, for another `grange up` that is refused. */
  announce(url: string): void;
  release(): Promise<void>;
}

const Announcement = z.object({ url: z.string() });

/** Creates the data directory and locks it for one `grange up`. */
export async function holdDataDirectory(path: string): Promise<HeldDataDirectory> {
  try {
    makeOwnDirectory(path);
  } catch (cause) {
    throw new Fault(
      "failed_precondition",
      `cannot write to the data directory ${path}: ${messageOf(cause)}. ` +
        "Make it writable, or name another directory with --data DIR or GRANGE_DATA",
      { cause },
    );
  }
  const taken = await takeLock(lockIn(path), "grange up");
  if ("holder" in taken) {
    const url = announcedIn(path);
    throw new Fault(
      "failed_precondition",
      `another \`grange up\` (${taken.holder.where}) ${url === undefined ? "is starting" : `serves ${url}`} from ${path}. ` +
        (url === undefined
          ? "Stop it, or name another data directory with --data DIR"
          : `Use it: grange submit --server ${url}; or stop it`),
    );
  }
  const { lock } = taken;
  const announcement = announcementIn(path);
  // Left by a killed process.
  rmSync(announcement, { force: true });
  return {
    path,
    logs: join(path, "logs"),
    announce(url) {
      const aside = `${announcement}.${randomUUID()}`;
      writeFileSync(aside, `${JSON.stringify({ url })}\n`);
      renameSync(aside, announcement);
    },
    async release() {
      rmSync(announcement, { force: true });
      await lock.release();
    },
  };
}

function makeOwnDirectory(path: string): void {
  makeDirectory(path, 0o700);
  makePrivateDirectory(join(path, "logs"));
  // In a repository that does not ignore it, the directory contains its own .gitignore.
  if (basename(path) === ".grange-data") writeFileSync(join(path, ".gitignore"), "*\n");
}

/** Returns the farm's address of a `grange up` that runs now from a data directory. */
export function farmHeldIn(path: string): string | undefined {
  return holderOf(lockIn(path)) === undefined ? undefined : announcedIn(path);
}

function lockIn(path: string): string {
  return join(path, "up.lock");
}

function announcementIn(path: string): string {
  return join(path, "up.json");
}

function announcedIn(path: string): string | undefined {
  try {
    const text = readFileSync(announcementIn(path), "utf8");
    return Announcement.safeParse(jsonOr(text, undefined)).data?.url;
  } catch {
    return undefined;
  }
}
