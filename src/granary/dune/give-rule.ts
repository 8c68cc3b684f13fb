import { chmod } from "node:fs/promises";
import { Fault } from "#core/fault.ts";
import type { GranaryResult } from "../granary-result.ts";
import type { GranaryStore } from "../store/granary-store.ts";
import type { PlaceBlob } from "../store/link-out.ts";
import { blobOf, type RecordedFile, readDuneKey, readRecord } from "./dune-record.ts";
import type { DuneStore, DuneStores } from "./dune-store.ts";

/** The bytes are in memory anyway: below this, writing them costs less than asking the file system to share them. */
const shareFromBytes = 65_536;

/** `given`: dune finds it from now on; `had`: it would have anyway; `foreign`: no rule of dune's. */
export type Given = "given" | "had" | "foreign" | "incomplete";

/**
 * Writes a result into dune's store, files first. Every file is compared with dune's own digest of it: whoever made
 * the result may have named others. Throws `data_loss` then; nothing of the rule is found.
 */
export async function giveRule(
  granary: GranaryStore,
  place: PlaceBlob,
  stores: DuneStores,
  result: GranaryResult,
): Promise<Given> {
  const named = readDuneKey(result);
  if (named === undefined) return "foreign";
  const store = stores[named.scheme];
  if (await store.hasRule(named.key)) return "had";
  const bytes = await granary.blobs.get(result.value);
  if (bytes === undefined) return "incomplete";
  const files = readRecord(bytes);
  const listed = new Set(result.blobs.map(({ hash }) => hash));
  for (const file of files) {
    // A record names nothing that the result does not: else a reader could be led to blobs that are not its own.
    if (file.size > 0 && !listed.has(file.sha256)) {
      throw new Fault(
        "data_loss",
        `the record of ${result.key} names a file that its result does not`,
      );
    }
    if (!(await giveFile(granary, place, store, file))) return "incomplete";
  }
  await store.putRule(
    named.key,
    files.map(({ path, duneDigest }) => ({ path, digest: duneDigest })),
  );
  return "given";
}

async function giveFile(
  granary: GranaryStore,
  place: PlaceBlob,
  store: DuneStore,
  file: RecordedFile,
): Promise<boolean> {
  if (await store.hasFile(file.duneDigest)) return true;
  const digest = blobOf(file);
  const bytes = await granary.blobs.get(digest);
  if (bytes === undefined) return false;
  const { executable } = file;
  // Never another name of the blob itself: dune sets the modification time of every file that it takes from its store,
  // and a blob whose time is not its own counts as written to.
  const placed = async (path: string): Promise<boolean> => {
    const how = await place(digest, path, { executable, isReadOnly: false });
    // A tool's own copy is its owner's to write to, and dune's store is nobody's.
    if (how !== undefined) await chmod(path, executable ? 0o555 : 0o444);
    return how !== undefined;
  };
  const isShared = bytes.length >= shareFromBytes;
  await store.putFile(file.duneDigest, { bytes, executable }, isShared ? placed : undefined);
  return true;
}
