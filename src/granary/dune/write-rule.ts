import { chmod, mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { Fault } from "#core/fault.ts";
import type { GranaryResult } from "../granary-result.ts";
import type { GranaryStore } from "../store/granary-store.ts";
import type { PlaceBlob } from "../store/link-out.ts";
import { packedUpToBytes } from "../store/packed-blobs.ts";
import { blobOf, type RecordedFile, readDuneKey, readRecord } from "./dune-record.ts";
import type { DuneStore, DuneStores } from "./dune-store.ts";
import type { FileWriter, NewFile } from "./start-writer.ts";

/** `given`: dune can find it from now on; `had`: dune already had it; `foreign`: not a dune rule. */
type WriteOutcome = "given" | "had" | "foreign" | "incomplete";

interface WriteRuleParts {
  readonly granary: Pick<GranaryStore, "blobs">;
  readonly place: PlaceBlob;
  readonly writer: Pick<FileWriter, "put">;
  readonly stores: DuneStores;
}

/**
 * Writes a result into dune's store, files first. Every file is compared with dune's own digest of it, because the
 * maker of the result may have recorded wrong digests. When they differ, it throws `data_loss`, and dune does not find
 * the rule.
 */
export async function writeRule(
  parts: WriteRuleParts,
  result: GranaryResult,
): Promise<WriteOutcome> {
  const { granary, writer, stores } = parts;
  const named = readDuneKey(result);
  if (named === undefined) return "foreign";
  const store = stores[named.scheme];
  if (await store.hasRule(named.key)) return "had";
  const bytes = await granary.blobs.get(result.value);
  if (bytes === undefined) return "incomplete";
  const files = readRecord(bytes);
  const listed = new Set(result.blobs.map(({ hash }) => hash));
  const toPut: NewFile[] = [];
  for (const file of files) {
    // A record may name only blobs of its result; otherwise a reader could be directed to foreign blobs.
    if (file.size > 0 && !listed.has(file.sha256)) {
      throw new Fault(
        "data_loss",
        `the record of ${result.key} names a file that its result does not`,
      );
    }
    if (await store.hasFile(file.duneDigest)) continue;
    const one = await fileOf(parts, store, file);
    if (one === undefined) return "incomplete";
    if (!(await isPlaced(parts, file, one))) toPut.push(one);
  }
  const made = files.map(({ path, duneDigest }) => ({ path, digest: duneDigest }));
  await writer.put([...toPut, store.ruleToPut(named.key, made)]);
  return "given";
}

async function fileOf(
  { granary }: WriteRuleParts,
  store: DuneStore,
  file: RecordedFile,
): Promise<NewFile | undefined> {
  const bytes = await granary.blobs.get(blobOf(file));
  return bytes && store.fileToPut(file.duneDigest, { bytes, executable: file.executable });
}

/**
 * Shares the bytes with the granary's file, where the file system supports that; smaller blobs would have to become
 * files first. It never creates a hard link to the blob: dune sets the modification time of every file that it takes
 * from its store, and a blob with another time counts as modified.
 */
async function isPlaced(
  { place }: WriteRuleParts,
  file: RecordedFile,
  { path, mode }: NewFile,
): Promise<boolean> {
  if (file.size <= packedUpToBytes) return false;
  await mkdir(dirname(path), { recursive: true });
  const how = { executable: file.executable, isReadOnly: false };
  if ((await place(blobOf(file), path, how)) === undefined) return false;
  // A tool's own copy is writable for its owner; files in dune's store are read-only.
  await chmod(path, mode);
  return true;
}
