import type { BlobStore } from "#cas/blob-store.ts";
import { decodeDirectory } from "#cas/directory-message.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { Directory } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import { inBatches } from "../fetch-batches.ts";
import { InputsMissing } from "../inputs-missing.ts";
import type { LocalStore } from "../local-store.ts";
import { childrenOf, type InputDirectory, inputDirectory, tooMuch } from "./input-directory.ts";

/** The limit for all cached directories, in entries; some 30 MB. */
const mostRemembered = 200_000;

const mostDirectories = 1_000_000;

/** The directories of one depth that are read together: one or a few calls of the store. */
const batchLimits = { mostBytes: 4 * 1024 * 1024, mostItems: 1_000 };

/**
 * Reads input trees, and remembers the directories that many of them share.
 *
 * The trees of a build differ in a few directories. Only those are read, whatever the size of the rest.
 */
export class InputDirectories {
  readonly #local: LocalStore;
  readonly #known = new Map<string, InputDirectory>();
  #entries = 0;

  constructor(local: LocalStore) {
    this.#local = local;
  }

  /** Throws InputsMissing with all directories and files that are missing. */
  async read(root: Digest, farm: BlobStore): Promise<InputDirectory> {
    const known = this.#known.get(digestKey(root));
    if (known) return known;
    const { messages, missing } = await this.#fetch(root, farm, this.#known);
    if (missing.length > 0) throw await this.allMissing(root, farm, missing);
    const built = new Map<string, InputDirectory>();
    const below = (child: Digest): InputDirectory => {
      const found = built.get(digestKey(child)) ?? this.#known.get(digestKey(child));
      if (!found) throw new Fault("internal", `directory ${digestKey(child)} was not read`);
      return found;
    };
    // A directory names its children by digest, so its digest is computed after theirs.
    for (const [digest, message] of childrenFirst(messages)) {
      built.set(digestKey(digest), inputDirectory(digest, message, below));
    }
    for (const [key, directory] of built) this.#remember(key, directory);
    return below(root);
  }

  /** Returns all blobs of a tree that neither this machine nor the farm has. */
  async missing(root: Digest, farm: BlobStore): Promise<Digest[]> {
    const { messages, missing } = await this.#fetch(root, farm, new Map());
    const files = new Map<string, Digest>();
    for (const [digest, message] of messages.values()) {
      // Only the files' digests are needed here: subtrees may be missing.
      const { files: own } = inputDirectory(digest, { ...message, directories: [] }, nobody);
      for (const file of own) files.set(digestKey(file.digest), file.digest);
    }
    const notLocal = [...files.values()].filter((digest) => !this.#local.holds(digest));
    return [...missing, ...(notLocal.length === 0 ? [] : await farm.findMissing(notLocal))];
  }

  /**
   * Returns all missing blobs of a tree, once a part was `found` missing: a client uploads all of them at once instead
   * of one by one. If all have arrived meanwhile, returns `found`, because a client that gets an empty list sends
   * nothing.
   */
  async allMissing(
    root: Digest,
    farm: BlobStore,
    found: readonly Digest[],
  ): Promise<InputsMissing> {
    const all = await this.missing(root, farm);
    return new InputsMissing(all.length > 0 ? all : found);
  }

  /** Fetches the messages of a tree's directories, except those below `known` ones. */
  async #fetch(
    root: Digest,
    farm: BlobStore,
    known: ReadonlyMap<string, InputDirectory>,
  ): Promise<{ messages: Map<string, readonly [Digest, Directory]>; missing: Digest[] }> {
    const messages = new Map<string, readonly [Digest, Directory]>();
    const missing: Digest[] = [];
    let level = [root];
    for (let depth = 0; level.length > 0; depth++) {
      if (depth > 200) throw tooMuch("is deeper than 200 directories");
      const below = new Map<string, Digest>();
      const readOne = async ({ digest }: { readonly digest: Digest }) => {
        try {
          const message = decodeDirectory(await this.#local.bytes(digest, farm));
          messages.set(digestKey(digest), [digest, message]);
          for (const child of childrenOf(digest, message)) below.set(digestKey(child), child);
        } catch (reason) {
          if (!(reason instanceof InputsMissing)) throw reason;
          missing.push(digest);
        }
      };
      const requests = level.map((digest) => ({ digest }));
      for (const batch of inBatches(requests, batchLimits)) {
        await mapAtMost(batch.length, batch, readOne);
      }
      if (messages.size + below.size > mostDirectories) throw tooMuch("has too many directories");
      level = [...below]
        .filter(([key]) => !messages.has(key) && !known.has(key))
        .map(([, digest]) => digest);
    }
    return { messages, missing };
  }

  #remember(key: string, directory: InputDirectory): void {
    const own = 1 + directory.files.length + directory.symlinks.length;
    if (this.#entries + own > mostRemembered) {
      // All entries at once: directories in use are read again from disk with the next tree.
      this.#known.clear();
      this.#entries = 0;
    }
    this.#known.set(key, directory);
    this.#entries += own;
  }
}

function nobody(): never {
  throw new Fault("internal", "a tree without its subtrees has none");
}

/** Does not check for cycles: a directory's digest covers its children's, so a cycle is impossible. */
function childrenFirst(
  messages: ReadonlyMap<string, readonly [Digest, Directory]>,
): (readonly [Digest, Directory])[] {
  const ordered: (readonly [Digest, Directory])[] = [];
  const done = new Set<string>();
  const visit = (key: string) => {
    const found = messages.get(key);
    if (!found || done.has(key)) return;
    done.add(key);
    for (const child of childrenOf(...found)) visit(digestKey(child));
    ordered.push(found);
  };
  for (const key of messages.keys()) visit(key);
  return ordered;
}
