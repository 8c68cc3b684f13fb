import { unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Fault, messageOf } from "#core/fault.ts";
import { type Holder, takeLock } from "#machine/holder-lock.ts";
import { makeDirectory, makePrivateDirectory } from "#machine/make-directory.ts";
import { isRestoreUnfinished } from "#machine/unfinished-restore.ts";

export interface DataDirectory {
  readonly path: string;
  readonly blobs: string;
  readonly mirrors: string;
  /** Aborted when another server holds the directory: from then on nothing may be written into it. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

/**
 * Creates the data directory and locks it: only one server at a time may use it, across all containers and machines.
 *
 * Calls `waits`, with the time to watch, when a server of another machine may still hold the directory. It contains the
 * blobs, unless the operator names another directory, which servers share.
 */
export async function openDataDirectory(
  path: string,
  waits: (holder: Holder, ms: number) => void = () => {},
  blobsElsewhere?: string,
): Promise<DataDirectory> {
  try {
    makeDirectory(path, 0o700);
    await writeFile(join(path, ".writable"), "");
    await unlink(join(path, ".writable"));
  } catch (cause) {
    throw new Fault(
      "failed_precondition",
      `cannot write to the data directory ${path}: ${messageOf(cause)}. ` +
        "Make it writable, or name another in GRANGE_DATA",
      { cause },
    );
  }
  const taken = await takeLock(join(path, "server.lock"), "grange server", { waits });
  if ("holder" in taken) {
    const { name, where, since } = taken.holder;
    const other = name === "grange server" ? "Grange server" : name;
    throw new Fault(
      "failed_precondition",
      `another ${other} (${where}) has worked in ${path} since ${since}. ` +
        "Stop it, or name another data directory in GRANGE_DATA",
    );
  }
  const { lock } = taken;
  if (isRestoreUnfinished(path)) {
    await lock.release();
    throw new Fault(
      "failed_precondition",
      `a restore into ${path} was interrupted, so the farm in it is not whole. ` +
        "Run the same `grange restore` again, or remove the directory",
    );
  }
  const blobs = blobsElsewhere ?? join(path, "blobs");
  const mirrors = join(path, "mirrors");
  // In a directory that the operator created, only the farm's own parts are made private.
  makePrivateDirectory(mirrors);
  if (blobsElsewhere === undefined) makePrivateDirectory(blobs);
  else makeDirectory(blobs, 0o700);
  return { path, blobs, mirrors, lost: lock.lost, release: () => lock.release() };
}
