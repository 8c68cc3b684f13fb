import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Digest, functionOf, isEmptyDigest } from "#core/digest.ts";
import { startDigest } from "../digest-of.ts";
import { type Namespace, ownNamespace } from "../namespaces/namespace.ts";
import type { Scrub } from "../scrub.ts";
import { absent } from "./blob-files.ts";
import { diskFault, errnoOf } from "./disk-fault.ts";
import { digestOfFile, diskLayout } from "./disk-layout.ts";
import { namespacesIn } from "./namespaces-in.ts";

const chunkBytes = 256 * 1024;

/** Checks the blobs of a directory and of the namespaces below it, shard by shard. */
export function diskScrub(directory: string): Scrub {
  const layoutOf = (namespace: Namespace) => diskLayout(join(directory, namespace));

  function inDirectory<T>(work: () => Promise<T>): Promise<T> {
    return work().catch((reason: unknown) => {
      throw diskFault(reason, directory);
    });
  }

  return {
    pieces: () =>
      inDirectory(async () => {
        const pieces: string[] = [];
        for (const namespace of [ownNamespace, ...(await namespacesIn(directory))]) {
          const shards = (await readdir(layoutOf(namespace).blobs).catch(absent)) ?? [];
          for (const shard of shards) pieces.push(pieceOf(namespace, shard));
        }
        return pieces.toSorted();
      }),

    async *check(piece) {
      const { namespace, shard } = partsOf(piece);
      const place = join(layoutOf(namespace).blobs, shard);
      for (const name of (await readdir(place).catch(absent)) ?? []) {
        const checked = await checkFile(join(place, name), name).catch(unreadable);
        if (checked !== undefined) yield { namespace, ...checked };
      }
    },

    removeCorrupt: (namespace, digest) =>
      inDirectory(async () => {
        if (isEmptyDigest(digest)) return false;
        const { path, leaving, leavingPath } = layoutOf(namespace);
        const away = leavingPath(digest);
        await mkdir(leaving, { recursive: true });
        // After the move, no process can replace the file. Readers also look there, and verify what they read.
        const isAway = await rename(path(digest), away).then(() => true, absent);
        if (isAway !== true) return false;
        const checked = await checkFile(away, digest.hash).catch(absent);
        if (checked?.isIntact === true) {
          await rename(away, path(digest)).catch(absent);
          return false;
        }
        await rm(away, { force: true });
        return true;
      }),
  };
}

const pieceOf = (namespace: Namespace, shard: string) => `${namespace}:${shard}`;

function partsOf(piece: string) {
  const at = piece.lastIndexOf(":");
  return { namespace: piece.slice(0, at) as Namespace, shard: piece.slice(at + 1) };
}

/** Compares a file's bytes with the digest in its name. Returns undefined for a file that is not a blob. */
async function checkFile(
  path: string,
  name: string,
): Promise<{ readonly digest: Digest; readonly isIntact: boolean } | undefined> {
  const file = await openUntouched(path);
  try {
    const digest = digestOfFile(name, (await file.stat()).size);
    if (digest === undefined) return undefined;
    const running = startDigest(functionOf(digest));
    const bytes = Buffer.allocUnsafe(Math.min(chunkBytes, Math.max(1, digest.sizeBytes)));
    for (;;) {
      const { bytesRead } = await file.read(bytes, 0, bytes.byteLength);
      if (bytesRead === 0) break;
      // The next read overwrites the same memory.
      running.update(bytes.subarray(0, bytesRead));
    }
    return { digest, isIntact: running.digest().hash === digest.hash };
  } finally {
    await file.close();
  }
}

/** Opens a file without changing its access time, which records its last use. Only its owner can do that. */
function openUntouched(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | (constants.O_NOATIME ?? 0)).catch((reason: unknown) => {
    if (errnoOf(reason) === "EPERM") return open(path, "r");
    throw reason;
  });
}

/** The file is missing or the disk cannot read it: readers of the blob get that error themselves. */
function unreadable(reason: unknown): undefined {
  const errno = errnoOf(reason);
  if (errno !== undefined && ["ENOENT", "ENOTDIR", "EIO", "EACCES"].includes(errno))
    return undefined;
  throw reason;
}
