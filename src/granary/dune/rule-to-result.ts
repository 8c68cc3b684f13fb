import { chmodSync, statSync } from "node:fs";
import { digestOf } from "#cas/digest-of.ts";
import type { GranaryResult } from "../granary-result.ts";
import type { GranaryStore } from "../store/granary-store.ts";
import { type DuneDigest, fileDigest } from "./dune-digest.ts";
import type { DuneFile } from "./dune-protocol.ts";
import { duneKey, encodeRecord, type RecordedFile } from "./dune-record.ts";
import { type DuneBytes, type DuneStore, readMade } from "./dune-store.ts";

interface RuleToResultParts {
  readonly project: string;
  readonly granary: GranaryStore;
  readonly store: DuneStore;
}

/**
 * Returns a rule in dune's store as a result. Its blobs are stored in the granary; the result itself is not stored yet.
 * Returns undefined when a file is missing, or does not match its name.
 */
export async function resultFromStore(
  parts: RuleToResultParts,
  key: DuneDigest,
): Promise<GranaryResult | undefined> {
  const files = await parts.store.rule(key);
  return files && asResult(parts, key, files, ({ digest }) => parts.store.file(digest));
}

/**
 * Stores a rule that dune has just made and announced: in dune's store, by a hard link where dune requests that, and in
 * the granary. Returns undefined when a file is missing or has changed since: dune announces many thousands of rules,
 * and a rule that is not stored is only made again.
 */
export async function takePromoted(
  parts: RuleToResultParts,
  promoted: {
    readonly key: DuneDigest;
    readonly files: readonly DuneFile[];
    /** Returns the path of a file. */
    readonly at: (path: string) => string;
    readonly link: boolean;
    /** Called when the store already has an intact copy of a file, so that dune's own copy may be removed. */
    readonly onDuplicate?: ((file: DuneFile) => void) | undefined;
  },
): Promise<GranaryResult | undefined> {
  const { store } = parts;
  const { key, files, onDuplicate } = promoted;
  const result = await asResult(parts, key, files, async ({ path, digest }) => {
    const from = promoted.at(path);
    const file = await madeFile(from, digest);
    if (file === undefined) return undefined;
    if (await store.hasFile(digest)) {
      if (onDuplicate !== undefined && (await store.file(digest))) onDuplicate({ path, digest });
      return file;
    }
    if (!promoted.link || !(await store.linkFile(digest, from))) await store.putFile(digest, file);
    return file;
  });
  if (result !== undefined) await store.putRule(key, files);
  return result;
}

/**
 * Reads a file of a rule and checks its digest. It makes the file read-only, because the store names a file by its
 * content.
 */
async function madeFile(path: string, digest: DuneDigest): Promise<DuneBytes | undefined> {
  try {
    const found = statSync(path);
    // dune does this itself, but a store that all builds share must not depend on that.
    if ((found.mode & 0o222) !== 0) chmodSync(path, found.mode & 0o555);
    const file = await readMade(path, found);
    return file && fileDigest(file.bytes, file.executable) === digest ? file : undefined;
  } catch {
    return undefined;
  }
}

async function asResult(
  { project, granary, store }: RuleToResultParts,
  key: DuneDigest,
  files: readonly DuneFile[],
  read: (file: DuneFile) => Promise<DuneBytes | undefined>,
): Promise<GranaryResult | undefined> {
  if (files.length === 0) return undefined;
  const recorded: RecordedFile[] = [];
  const blobs = new Map<string, GranaryResult["value"]>();
  for (const file of files) {
    const found = await read(file);
    if (found === undefined) return undefined;
    const digest = digestOf(found.bytes);
    if (!granary.hasBlob(digest)) await granary.blobs.put(digest, found.bytes);
    blobs.set(digest.hash, digest);
    recorded.push({
      path: file.path,
      duneDigest: file.digest,
      sha256: digest.hash,
      size: digest.sizeBytes,
      executable: found.executable,
    });
  }
  const record = encodeRecord(recorded);
  const value = digestOf(record);
  if (!granary.hasBlob(value)) await granary.blobs.put(value, record);
  return {
    ...duneKey(store.scheme, key),
    project,
    value,
    attributes: {},
    blobs: [...blobs.values()],
    costMs: undefined,
  };
}
