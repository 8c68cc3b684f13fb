import { constants } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { startDigest } from "#cas/digest-of.ts";
import { tempFileIn } from "#cas/temp-file.ts";
import { type Digest, functionOf } from "#core/digest.ts";

const chunkBytes = 1024 * 1024;

type Copied = "copied" | "present" | "missing" | "damaged";

/** The times for the copy; when absent, the time of copying. */
interface FileTimes {
  readonly accessed: Date;
  readonly modified: Date;
}

/**
 * Copies a blob into another directory, unless a file with its name and size already exists.
 *
 * The copy is hashed while it is written, and gets its name only when its bytes are correct and on the disk. It is
 * never a link, so that
 * damage to one file does not affect the other. Reading does not count as a use of the blob (O_NOATIME).
 *
 * @param to the copy's path; its directory is created when it is missing
 * @param temp a directory of the same file system for the unfinished copy
 * @returns "missing" when there is no source of the blob's size, "damaged" when the bytes do not match the digest
 */
export async function copyBlob(
  digest: Digest,
  from: string,
  to: string,
  temp: string,
  { mode, times }: { readonly mode: number; readonly times?: FileTimes },
): Promise<Copied> {
  const there = await stat(to).catch(absent);
  if (there?.size === digest.sizeBytes) return "present";
  const source = await openUnnoticed(from);
  if (source === undefined) return "missing";
  const aside = tempFileIn(temp);
  try {
    if ((await source.stat()).size !== digest.sizeBytes) return "missing";
    const target = await open(aside, "wx", mode);
    try {
      const isRight = await copyBytes(source, target, digest);
      if (!isRight) {
        await rm(aside, { force: true });
        return "damaged";
      }
      if (times !== undefined) await target.utimes(times.accessed, times.modified);
      await target.sync();
    } finally {
      await target.close();
    }
    await moveTo(aside, to);
    return "copied";
  } catch (reason) {
    await rm(aside, { force: true });
    throw reason;
  } finally {
    await source.close();
  }
}

/** Reads a whole blob; returns whether its bytes are those of the digest, and "missing" when there is no such file. */
export async function checkBlob(
  digest: Digest,
  path: string,
): Promise<"right" | "missing" | "damaged"> {
  const source = await openUnnoticed(path);
  if (source === undefined) return "missing";
  try {
    return (await copyBytes(source, undefined, digest)) ? "right" : "damaged";
  } finally {
    await source.close();
  }
}

async function copyBytes(
  source: FileHandle,
  target: FileHandle | undefined,
  digest: Digest,
): Promise<boolean> {
  const running = startDigest(functionOf(digest));
  // One byte more than expected, to detect extra bytes.
  const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, digest.sizeBytes + 1));
  for (let at = 0; ; ) {
    const { bytesRead } = await source.read(buffer, 0, buffer.byteLength, at);
    if (bytesRead === 0) break;
    at += bytesRead;
    if (at > digest.sizeBytes) return false;
    const bytes = buffer.subarray(0, bytesRead);
    running.update(bytes);
    await target?.writeFile(bytes);
  }
  return running.sizeBytes === digest.sizeBytes && running.digest().hash === digest.hash;
}

/**
 * Undefined when there is no such file. Only its owner may read a file without changing its access time; for others the
 * time changes.
 */
async function openUnnoticed(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, constants.O_RDONLY | (constants.O_NOATIME ?? 0));
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code !== "EPERM") return absent(reason);
    return open(path, "r").catch(absent);
  }
}

async function moveTo(aside: string, to: string): Promise<void> {
  await rename(aside, to).catch(async (reason: unknown) => {
    if ((reason as NodeJS.ErrnoException).code !== "ENOENT") throw reason;
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    await rename(aside, to);
  });
}

function absent(reason: unknown): undefined {
  if ((reason as NodeJS.ErrnoException).code !== "ENOENT") throw reason;
  return undefined;
}
