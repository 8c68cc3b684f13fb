import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { z } from "zod";

/**
 * Digests of the whole content of files that hardly ever change, such as compilers. They are remembered between builds.
 * The complete file is read, also for a compiler of 200 MB, because the digest decides whether two machines share
 * results.
 */
export interface KnownDigests {
  /** Returns undefined when the path is not a readable file. */
  of(path: string): Promise<string | undefined>;
  /** Stores the learned digests. Never throws, because this only helps the next start. */
  save(): Promise<void>;
}

/** A new name, because earlier versions sampled large files: two machines would give one compiler different names. */
const fileName = "tool-hashes.json";
const Remembered = z.record(
  z.string(),
  z.object({ like: z.string(), hash: z.string().regex(/^[0-9a-f]{64}$/) }),
);

/** The number of remembered digests; the oldest are removed first. */
const most = 500;
/**
 * A file that was written less than this time ago, in ms, may be written again without a visible
 * change.
 */
const settledMs = 2_000;
const mostBytes = 1024 * 1024 * 1024;

export async function openKnownDigests(dataDirectory: string): Promise<KnownDigests> {
  const file = join(dataDirectory, fileName);
  const known = new Map(Object.entries(await readRemembered(file)));
  /** Two simultaneous requests for one file share the read. */
  const underWay = new Map<string, Promise<string>>();
  let isChanged = false;
  return {
    async of(path) {
      try {
        const file = await stat(path, { bigint: true });
        const { size, mtimeNs, ctimeNs, ino, dev } = file;
        if (!file.isFile() || size > mostBytes) return undefined;
        const like = [size, mtimeNs, ctimeNs, ino, dev].join(" ");
        const before = known.get(path);
        if (before?.like === like) return before.hash;
        const name = `${path} ${like}`;
        const hashing = underWay.get(name) ?? hashOf(path).finally(() => underWay.delete(name));
        underWay.set(name, hashing);
        const hash = await hashing;
        if (Date.now() - Number(mtimeNs / 1_000_000n) > settledMs) {
          known.delete(path);
          known.set(path, { like, hash });
          isChanged = true;
        }
        return hash;
      } catch {
        return undefined;
      }
    },

    async save() {
      if (!isChanged) return;
      isChanged = false;
      const mine = `${file}.${randomUUID()}`;
      try {
        await mkdir(dirname(file), { recursive: true });
        await writeFile(mine, JSON.stringify(Object.fromEntries([...known].slice(-most))));
        await rename(mine, file);
      } catch {
        isChanged = true;
        await rm(mine, { force: true }).catch(() => {});
      }
    },
  };
}

async function readRemembered(file: string): Promise<z.infer<typeof Remembered>> {
  try {
    return Remembered.parse(JSON.parse(await readFile(file, "utf8")));
  } catch {
    return {};
  }
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path, { highWaterMark: 1024 * 1024 }), hash);
  return hash.digest("hex");
}
