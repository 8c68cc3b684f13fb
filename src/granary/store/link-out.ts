import { constants, statSync } from "node:fs";
import { chmod, copyFile, link, rename, rm, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { diskFault, errnoOf } from "#cas/disk/disk-fault.ts";
import { modifiedAt } from "#cas/disk/disk-layout.ts";
import { tempFileIn } from "#cas/temp-file.ts";
import type { Digest } from "#core/digest.ts";
import type { CheckedBlobs } from "./checked-blobs.ts";
import type { Soundness } from "./soundness.ts";
import type { StorePaths } from "./store-paths.ts";

/** How blobs are put where tools want them. `auto`: by the cheapest method that works. */
export type LinkMode = "auto" | "hardlink" | "copy";

interface PlaceAt {
  readonly executable: boolean;
  /** Whether the tool never writes to the file: then it may share the store's own bytes. */
  readonly isReadOnly: boolean;
}

type Placed = "reflink" | "hardlink" | "copy";

/** Errors of file systems that do not support a method: it is not tried again between these two directories. */
const cannot = ["EXDEV", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EINVAL", "EPERM", "ENOTTY"];

/** The modes for a tool's own file, as in a checkout. A hard link keeps the blob's mode, which is read-only. */
const modes = { plain: 0o644, executable: 0o755 } as const;
const executableBlob = 0o555;

/** Returns the methods to try, the cheapest first. */
export function waysToPlace(mode: LinkMode, isReadOnly: boolean): readonly Placed[] {
  switch (mode) {
    case "copy":
      return ["copy"];
    case "hardlink":
      return isReadOnly ? ["hardlink", "copy"] : ["copy"];
    case "auto":
      // A reflink is the tool's own file and costs as little as a link, so it is better even when a link is allowed.
      return isReadOnly ? ["reflink", "hardlink", "copy"] : ["reflink", "copy"];
  }
}

export type PlaceBlob = (digest: Digest, to: string, how: PlaceAt) => Promise<Placed | undefined>;

/**
 * Returns a function that puts blobs at paths. The method that works between the store and a mount is found once and
 * remembered.
 */
export function placingFrom(
  paths: StorePaths,
  blobs: CheckedBlobs,
  known: Soundness,
  mode: LinkMode,
): PlaceBlob {
  const impossible = new Set<string>();
  const storeDevice = statSync(paths.blobs).dev;

  /** Returns the same bytes as a file with another mode, made at its first use. */
  async function executableTwin(digest: Digest): Promise<string | undefined> {
    const path = paths.executable(digest);
    if (await blobs.isSound(digest, path)) return path;
    const aside = tempFileIn(paths.temp);
    try {
      await copyFile(paths.blob(digest), aside, constants.COPYFILE_FICLONE);
      await chmod(aside, executableBlob);
      await utimes(aside, new Date(), modifiedAt);
      await rename(aside, path);
    } catch (reason) {
      await rm(aside, { force: true });
      if (errnoOf(reason) !== "ENOENT") throw reason;
    }
    return (await blobs.isSound(digest, path)) ? path : undefined;
  }

  async function placeBy(way: Placed, digest: Digest, aside: string, executable: boolean) {
    if (way === "hardlink") {
      const from = executable ? await executableTwin(digest) : paths.blob(digest);
      if (from === undefined) return false;
      const before = statSync(from);
      await link(from, aside);
      known.moved(from, before, statSync(from));
      return true;
    }
    const flag = way === "reflink" ? constants.COPYFILE_FICLONE_FORCE : 0;
    await copyFile(paths.blob(digest), aside, flag);
    await chmod(aside, executable ? modes.executable : modes.plain);
    return true;
  }

  return async (digest, to, { executable, isReadOnly }) => {
    if (!(await blobs.isSound(digest)) || !blobs.look(digest, true)) return undefined;
    const mount = statSync(dirname(to)).dev;
    // Under another name first, so that a reader of the path sees either the old or the new complete file.
    const aside = join(dirname(to), `.grange-${process.pid}-${counter++}`);
    for (const way of waysToPlace(mode, isReadOnly)) {
      if (impossible.has(`${way} ${mount}`)) continue;
      try {
        if (!(await placeBy(way, digest, aside, executable))) return undefined;
        await rename(aside, to);
        // A rename onto another name of the same file does nothing, and leaves both.
        await rm(aside, { force: true });
        return way;
      } catch (reason) {
        await rm(aside, { force: true });
        const errno = errnoOf(reason) ?? "";
        // Just removed, by a trim or because it was corrupt.
        if (errno === "ENOENT" && !blobs.look(digest)) return undefined;
        if (way === "copy") throw diskFault(reason, dirname(to));
        // Two mounts of one file system look the same, but refuse links to each other.
        const isSure = errno !== "EXDEV" || mount !== storeDevice;
        if (cannot.includes(errno) && isSure) impossible.add(`${way} ${mount}`);
        // ext4 allows 65,000 names for one file. For all other errors, a copy will show the reason.
      }
    }
    return undefined;
  };
}

let counter = 0;
