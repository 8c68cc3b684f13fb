import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { z } from "zod";
import { Fault, messageOf } from "#core/fault.ts";
import { makeDirectory } from "#machine/make-directory.ts";
import { jsonOr } from "../api/api-failure.ts";
import { identityOf, isRunning } from "./process-identity.ts";

export interface HeldDataDirectory {
  readonly path: string;
  readonly logs: string;
  /** Says where the farm can be reached, for whoever is refused. */
  announce(url: string): void;
  release(): void;
}

const Holder = z.object({ pid: z.number(), startTime: z.string(), url: z.string().nullable() });
type Holder = z.infer<typeof Holder>;

/**
 * Makes the data directory and holds it for one `grange up`.
 *
 * The holder's file is made by linking, which fails when it exists; one whose
 * process is gone is taken over.
 */
export function holdDataDirectory(path: string): HeldDataDirectory {
  const lock = join(path, "up.json");
  const mine = `${lock}.${randomUUID()}`;
  const me = identityOf(process.pid) ?? { pid: process.pid, startTime: "" };
  const write = (url: string | null) => writeFileSync(mine, `${JSON.stringify({ ...me, url })}\n`);
  try {
    makeOwnDirectory(path);
    write(null);
  } catch (cause) {
    throw new Fault(
      "failed_precondition",
      `cannot write to the data directory ${path}: ${messageOf(cause)}. ` +
        "Make it writable, or name another with --data DIR or GRANGE_DATA",
      { cause },
    );
  }
  try {
    take(mine, lock, path);
  } finally {
    rmSync(mine, { force: true });
  }
  return {
    path,
    logs: join(path, "logs"),
    announce(url) {
      write(url);
      renameSync(mine, lock);
    },
    release: () => rmSync(lock, { force: true }),
  };
}

function makeOwnDirectory(path: string): void {
  makeDirectory(join(path, "logs"));
  // In a repository that does not ignore it, the directory ignores itself.
  if (basename(path) === ".grange-data") writeFileSync(join(path, ".gitignore"), "*\n");
}

function take(mine: string, lock: string, path: string): void {
  for (;;) {
    try {
      linkSync(mine, lock);
      return;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    }
    const holder = holderOf(lock);
    if (holder !== undefined && isRunning(holder)) {
      const where = holder.url === null ? "is starting" : `serves ${holder.url}`;
      throw new Fault(
        "failed_precondition",
        `another \`grange up\` (process ${holder.pid}) ${where} from ${path}. ` +
          (holder.url === null
            ? "Stop it, or name another data directory with --data DIR"
            : `Use that one: grange submit --server ${holder.url}; or stop it`),
      );
    }
    rmSync(lock, { force: true });
  }
}

/** Where the farm answers that a `grange up` runs from a data directory now. */
export function farmHeldIn(path: string): string | undefined {
  const holder = holderOf(join(path, "up.json"));
  return holder !== undefined && isRunning(holder) ? (holder.url ?? undefined) : undefined;
}

function holderOf(lock: string): Holder | undefined {
  try {
    return Holder.safeParse(jsonOr(readFileSync(lock, "utf8"), undefined)).data;
  } catch {
    return undefined;
  }
}
