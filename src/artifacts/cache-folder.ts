import {
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "#core/fault.ts";
import { makePrivateDirectory } from "#machine/make-directory.ts";
import { isAlive, ownOwner } from "#machine/owner.ts";
import { holdingLock } from "./hold-lock.ts";

/** A complete folder of a key. It is not removed until it is released. */
export interface HeldFolder {
  readonly directory: string;
  letGo(): Promise<void>;
}

/** Folders by key, each made once; their total size is limited. Several processes may share it. */
interface CacheFolder {
  /** `make` fills an empty folder; it is called when the key does not exist, by one process at a time. */
  hold(
    key: string,
    make: (folder: string) => Promise<void>,
    signal: AbortSignal,
  ): Promise<HeldFolder>;
}

/**
 * ```
 * kept/KEY/        content, and `bytes`, whose time is that of last use
 * making/OWNER…/   a folder that a process is filling: garbage after the end of that process
 * held/KEY/OWNER…  a holder of the folder; invalid after the end of its process
 * locks/           `cache` is held briefly, KEY while its folder is made
 * ```
 */
export async function openCacheFolder(directory: string, limitBytes: number): Promise<CacheFolder> {
  const at = (...parts: string[]) => join(directory, ...parts);
  for (const part of ["kept", "making", "held", "locks"]) makePrivateDirectory(at(part));
  await removeRubbish(directory);
  const own = ownOwner();
  let count = 0;
  const alone = <T>(signal: AbortSignal, work: () => Promise<T>) =>
    holdingLock(at("locks", "cache"), signal, work);

  return {
    async hold(key, make, signal) {
      if (!/^[0-9a-f]{64}$/.test(key))
        throw new Fault("internal", `"${key}" is not a key of the artifact cache`);
      for (;;) {
        const held = await alone(signal, () => holdIfKept(key));
        if (held !== undefined) return held;
        const made = await holdingLock(at("locks", key), signal, async () => {
          // The previous holder of the lock may have made it.
          if (await exists(at("kept", key))) return undefined;
          return makeAndHold(key, make, signal);
        });
        if (made !== undefined) return made;
      }
    },
  };

  async function makeAndHold(
    key: string,
    make: (folder: string) => Promise<void>,
    signal: AbortSignal,
  ): Promise<HeldFolder> {
    const folder = at("making", `${own}-${count++}`);
    await mkdir(join(folder, "content"), { recursive: true });
    try {
      await make(join(folder, "content"));
      signal.throwIfAborted();
      await writeFile(join(folder, "bytes"), String(await bytesBelow(join(folder, "content"))));
      return await alone(signal, async () => {
        await rename(folder, at("kept", key));
        const held = await holdIfKept(key);
        if (held === undefined)
          throw new Fault("internal", `${at("kept", key)} was removed by another program`);
        await keepWithinLimit();
        return held;
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Requires the lock of the cache, so that no folder is removed between the check and the mark. */
  async function holdIfKept(key: string): Promise<HeldFolder | undefined> {
    if (!(await exists(at("kept", key)))) return undefined;
    const mark = at("held", key, `${own}-${count++}`);
    await mkdir(at("held", key), { recursive: true });
    await writeFile(mark, "");
    await used(key);
    return {
      directory: at("kept", key, "content"),
      letGo: async () => {
        await used(key);
        await rm(mark, { force: true });
        await alone(new AbortController().signal, keepWithinLimit);
      },
    };
  }

  async function used(key: string): Promise<void> {
    const now = new Date();
    await utimes(at("kept", key, "bytes"), now, now).catch(() => {});
  }

  /**
   * Removes the least recently used folders above the limit; held folders stay, regardless of the limit. Requires the
   * lock of the cache.
   */
  async function keepWithinLimit(): Promise<void> {
    const kept = await Promise.all(
      (await readdir(at("kept"))).map(async (key) => {
        const file = at("kept", key, "bytes");
        const [{ mtimeMs }, text] = await Promise.all([stat(file), readFile(file, "utf8")]);
        return { key, mtimeMs, bytes: Number(text) };
      }),
    );
    let total = kept.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { key, bytes } of kept.toSorted((a, b) => a.mtimeMs - b.mtimeMs)) {
      if (total <= limitBytes) return;
      if (await isHeld(at("held", key))) continue;
      total -= bytes;
      // Renamed in one step into the folders of this process, so that no other process finds an incomplete folder.
      const away = at("making", `${own}-${count++}`);
      await rename(at("kept", key), away);
      await rm(away, { recursive: true, force: true });
      await rm(at("held", key), { recursive: true, force: true });
    }
  }
}

/** Returns whether a running process holds the key; removes the marks of all others. */
async function isHeld(marksOfKey: string): Promise<boolean> {
  const marks = await readdir(marksOfKey).catch(() => []);
  const dead = marks.filter((mark) => !isAlive(mark));
  await Promise.all(dead.map((mark) => rm(join(marksOfKey, mark), { force: true })));
  return dead.length < marks.length;
}

/** Removes files of ended processes: incomplete folders and requests for locks. */
async function removeRubbish(directory: string): Promise<void> {
  const making = join(directory, "making");
  const locks = join(directory, "locks");
  const made = (await readdir(making)).filter((name) => !isAlive(name));
  // A process that waits for a lock has its own file beside the lock: LOCK.OWNER….
  const waiting = (await readdir(locks)).filter(
    (name) => name.includes(".") && !isAlive(name.slice(name.indexOf(".") + 1)),
  );
  await Promise.all([
    ...made.map((name) => rm(join(making, name), { recursive: true, force: true })),
    ...waiting.map((name) => rm(join(locks, name), { force: true })),
  ]);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Returns the sum of the sizes of all files below a folder; links are not followed. */
async function bytesBelow(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += await bytesBelow(path);
    else bytes += (await lstat(path)).size;
  }
  return bytes;
}
