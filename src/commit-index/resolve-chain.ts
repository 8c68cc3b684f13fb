import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { decodeIndexInTurns } from "./decode-index.ts";
import type { IndexDelta, IndexEntry } from "./index-entry.ts";
import { indexLimits } from "./index-limits.ts";
import { keyText } from "./result-key.ts";

interface ResolvedIndex {
  readonly entries: readonly IndexEntry[];
  /** The number of fetched blobs: the index and its bases. */
  readonly chain: number;
  /** The number of entries in namespaces unknown to this version. */
  readonly unknownEntries: number;
}

/** Returns a blob; undefined when it is absent. The caller verifies its digest. */
type ReadIndexBlob = (digest: Digest) => Promise<Uint8Array | undefined>;

/**
 * Returns an index with the entries of its bases.
 *
 * Throws `invalid_argument` for an invalid one or too many bases; `not_found` when a base is missing. An index is
 * advice: the caller continues without it.
 */
export async function resolveChain(index: Digest, read: ReadIndexBlob): Promise<ResolvedIndex> {
  const deltas: IndexDelta[] = [];
  const seen = new Set<string>();
  let unknownEntries = 0;
  for (let next: Digest | undefined = index; next !== undefined; ) {
    const name = digestKey(next);
    if (seen.has(name)) throw refused(index, `${name} is its own base`);
    if (seen.size === indexLimits.chain) {
      throw refused(index, `it has more than ${indexLimits.chain - 1} bases`);
    }
    seen.add(name);
    if (next.sizeBytes > indexLimits.bytes) {
      throw refused(index, `${name} is larger than ${indexLimits.bytes} bytes`);
    }
    const bytes = await read(next);
    if (bytes === undefined) {
      throw new Fault("not_found", `the commit index ${digestKey(index)} lacks ${name}`);
    }
    const decoded = await decodeIndexInTurns(bytes);
    deltas.push(decoded.delta);
    unknownEntries += decoded.unknownEntries;
    next = decoded.delta.base;
  }
  const entries = deltas.reduceRight<IndexEntry[]>(applyDelta, []);
  if (entries.length > indexLimits.entries) {
    throw refused(index, `it has over ${indexLimits.entries} entries with its bases`);
  }
  return { entries, chain: deltas.length, unknownEntries };
}

/** Applies an index to its base: an entry replaces the base's entry of the same key. */
export function applyDelta(base: readonly IndexEntry[], delta: IndexDelta): IndexEntry[] {
  const byKey = new Map(base.map((entry) => [keyText(entry), entry]));
  for (const key of delta.removed) byKey.delete(keyText(key));
  for (const entry of delta.entries) byKey.set(keyText(entry), entry);
  return [...byKey.values()];
}

function refused(index: Digest, what: string): Fault {
  return new Fault("invalid_argument", `the commit index ${digestKey(index)}: ${what}`);
}
