import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errnoOf } from "#cas/disk/disk-fault.ts";
import { tempFileIn } from "#cas/temp-file.ts";
import { Fault } from "#core/fault.ts";
import { encodeCsexp, fieldOf, isList, parseCsexp } from "./csexp.ts";
import { DuneDigest, fileDigest } from "./dune-digest.ts";
import { type DuneFile, filesOf } from "./dune-protocol.ts";
import type { NewFile } from "./start-writer.ts";

/**
 * The formats in which dune stores a rule's outputs: v4 is used by dune 2.8 and 2.9, v5 by all versions of dune 3. Both
 * keep files in `files/v4`.
 */
export const DuneScheme = ["v4", "v5"] as const;
export type DuneScheme = (typeof DuneScheme)[number];

export interface DuneBytes {
  readonly bytes: Uint8Array;
  readonly executable: boolean;
}

/** dune's own cache. dune reads it itself, so results must be written there to be found. */
export interface DuneStore {
  readonly scheme: DuneScheme;
  /** Returns the keys of all rules in it. */
  keys(): Promise<Set<DuneDigest>>;
  hasRule(key: DuneDigest): Promise<boolean>;
  /**
   * Returns the files of one execution of a rule: v4 has paths below the build directory, v5 names alone. Returns
   * undefined also when the description cannot be parsed.
   */
  rule(key: DuneDigest): Promise<readonly DuneFile[] | undefined>;
  /** Returns when the rule's description was written; undefined without one. dune's hits do not change that time. */
  writtenAtMs(key: DuneDigest): Promise<number | undefined>;
  /**
   * Returns the time of the file system's clock, which may be behind the machine's clock: existing files are not
   * younger than this.
   */
  nowMs(): number;
  hasFile(digest: DuneDigest): Promise<boolean>;
  filePath(digest: DuneDigest): string;
  /** Returns the verified file; undefined when it is absent or corrupt. */
  file(digest: DuneDigest): Promise<DuneBytes | undefined>;
  /** Stores a file under its digest; throws `data_loss` when the bytes do not match. */
  putFile(digest: DuneDigest, file: DuneBytes): Promise<void>;
  /**
   * Stores a file that dune made as a hard link; returns false when it must be copied. The caller verifies its bytes.
   */
  linkFile(digest: DuneDigest, from: string): Promise<boolean>;
  /** Stores a rule; must be called after storing its files. */
  putRule(key: DuneDigest, files: readonly DuneFile[]): Promise<void>;
  /**
   * For callers that write files themselves: returns the file as it must be stored. Throws `data_loss` when its bytes
   * do not match.
   */
  fileToPut(digest: DuneDigest, file: DuneBytes): NewFile;
  ruleToPut(key: DuneDigest, files: readonly DuneFile[]): NewFile;
  /** Returns the directories that rules with these keys, and many files, will need. */
  directoriesFor(keys: readonly DuneDigest[]): string[];
  /** The directory of incomplete files. */
  readonly temp: string;
}

/**
 * Up to this size, files are read synchronously, without the thread pool: a rule needs a dozen calls of ten
 * microseconds each, and a call through the pool takes several times as long.
 */
const atOnceBytes = 262_144;

/**
 * The limit for a rule's description. A longer one is not read, because a truncated description is
 * useless.
 */
const longestRule = 16 * 1_024 * 1_024;

/** Both stores of a cache: a dune of either version may use it. */
export type DuneStores = Readonly<Record<DuneScheme, DuneStore>>;

export function duneStores(database: string): DuneStores {
  return { v4: duneStoreIn(database, "v4"), v5: duneStoreIn(database, "v5") };
}

/** dune 2 makes these directories itself, but fails its build when another dune makes them at the same moment. */
export async function makeRoots(database: string): Promise<void> {
  for (const kind of ["files", "meta"])
    await mkdir(join(database, kind, "v4"), { recursive: true });
}

export function duneStoreIn(database: string, scheme: DuneScheme): DuneStore {
  const files = join(database, "files/v4");
  const rules = join(database, "meta", scheme);
  // On the same file system as both directories, in a place that dune does not read.
  const temp = join(database, "grange-temp");
  const filePath = (digest: DuneDigest) => join(files, digest.slice(0, 2), digest);
  const rulePath = (key: DuneDigest) => join(rules, key.slice(0, 2), key);

  function fileToPut(digest: DuneDigest, { bytes, executable }: DuneBytes): NewFile {
    if (fileDigest(bytes, executable) !== digest) {
      throw new Fault("data_loss", `these are not the bytes of dune's file ${digest}`);
    }
    return { path: filePath(digest), bytes, mode: executable ? 0o555 : 0o444 };
  }

  function ruleToPut(key: DuneDigest, made: readonly DuneFile[]): NewFile {
    const bytes = encodeCsexp([
      // dune writes the commit here, and never reads it.
      ["metadata"],
      ["files", ...made.map(({ path, digest }) => [path, digest])],
    ]);
    return { path: rulePath(key), bytes, mode: 0o444 };
  }

  function put({ path, bytes, mode }: NewFile): void {
    const aside = tempFileIn(temp);
    try {
      inDirectoryOf(aside, () => writeFileSync(aside, bytes, { flag: "wx", mode }));
      // The mode must not depend on the umask, because for dune the mode is part of a file.
      if ((mode & process.umask()) !== 0) chmodSync(aside, mode);
      inDirectoryOf(path, () => renameSync(aside, path));
    } catch (reason) {
      rmSync(aside, { force: true });
      throw reason;
    }
  }

  return {
    scheme,
    filePath,

    async keys() {
      const keys = new Set<DuneDigest>();
      for (const shard of await readdir(rules).catch(none)) {
        for (const file of await readdir(join(rules, shard)).catch(none)) {
          const key = DuneDigest.safeParse(file).data;
          if (key !== undefined) keys.add(key);
        }
      }
      return keys;
    },

    hasRule: async (key) => existsSync(rulePath(key)),
    hasFile: async (digest) => existsSync(filePath(digest)),
    writtenAtMs: async (key) => statSync(rulePath(key), { throwIfNoEntry: false })?.mtimeMs,

    nowMs() {
      const mark = tempFileIn(temp);
      try {
        inDirectoryOf(mark, () => writeFileSync(mark, "", { flag: "wx" }));
        return statSync(mark).mtimeMs;
      } finally {
        rmSync(mark, { force: true });
      }
    },

    async rule(key) {
      const bytes = (await readMade(rulePath(key)))?.bytes;
      if (bytes === undefined || bytes.length > longestRule) return undefined;
      try {
        const fields = parseCsexp(bytes);
        const pairs = isList(fields) ? fieldOf(fields, "files") : undefined;
        return pairs && filesOf(pairs);
      } catch {
        return undefined;
      }
    },

    async file(digest) {
      const found = await readMade(filePath(digest));
      return found && fileDigest(found.bytes, found.executable) === digest ? found : undefined;
    },

    async putFile(digest, file) {
      const it = fileToPut(digest, file);
      if (!existsSync(it.path)) put(it);
    },

    async linkFile(digest, from) {
      const path = filePath(digest);
      try {
        inDirectoryOf(path, () => linkSync(from, path));
        return true;
      } catch (reason) {
        return errnoOf(reason) === "EEXIST";
      }
    },

    putRule: async (key, made) => put(ruleToPut(key, made)),
    fileToPut,
    ruleToPut,
    directoriesFor(keys) {
      const shards = Array.from({ length: 256 }, (_, n) => n.toString(16).padStart(2, "0"));
      const ofRules = new Set(keys.map((key) => key.slice(0, 2)));
      return [
        ...[...ofRules].map((shard) => join(rules, shard)),
        ...shards.map((shard) => join(files, shard)),
      ];
    },
    temp,
  };
}

/** Returns a file's bytes and whether its owner may execute it, as in dune's digests. */
export async function readMade(
  path: string,
  found?: Pick<Stats, "size" | "mode">,
): Promise<DuneBytes | undefined> {
  try {
    const { size, mode } = found ?? statSync(path);
    const bytes = size <= atOnceBytes ? readFileSync(path) : await readFile(path);
    return { bytes, executable: (mode & 0o100) !== 0 };
  } catch (reason) {
    return absent(reason);
  }
}

/** The directory is usually missing only at the first use. */
function inDirectoryOf(path: string, work: () => void): void {
  try {
    work();
  } catch (reason) {
    if (errnoOf(reason) !== "ENOENT") throw reason;
    mkdirSync(dirname(path), { recursive: true });
    work();
  }
}

function absent(reason: unknown): undefined {
  const errno = errnoOf(reason) ?? "";
  if (!["ENOENT", "ENOTDIR", "EACCES"].includes(errno)) throw reason;
  return undefined;
}

function none(): string[] {
  return [];
}
