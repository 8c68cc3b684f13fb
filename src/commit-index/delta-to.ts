import { type Digest, digestKey } from "#core/digest.ts";
import type { IndexDelta, IndexEntry } from "./index-entry.ts";
import { indexLimits } from "./index-limits.ts";
import { keyText, type ResultKey } from "./result-key.ts";

export interface BaseIndex {
  readonly digest: Digest;
  readonly entries: readonly IndexEntry[];
  /** The number of blobs that a reader must fetch. */
  readonly chain: number;
}

interface StoredForm {
  readonly delta: IndexDelta;
  /** The number of blobs that a reader must fetch. */
  readonly chain: number;
}

/** Above this share of changes, reading two blobs in sequence costs more than reading a larger one. */
const mostChanged = 0.5;

/** Chooses the form in which an index is stored: complete, or as a difference from a base if that saves enough. */
export function deltaTo(entries: readonly IndexEntry[], base: BaseIndex | undefined): StoredForm {
  const apart = base && smallerDelta(entries, base);
  const delta = apart ?? { base: undefined, entries, removed: [] };
  return {
    delta,
    chain: base === undefined || apart === undefined ? 1 : base.chain + 1,
  };
}

function smallerDelta(entries: readonly IndexEntry[], base: BaseIndex): IndexDelta | undefined {
  if (base.chain >= indexLimits.chain) return undefined;
  const delta = differenceOf(entries, base);
  const changes = delta.entries.length + delta.removed.length;
  const isSmaller = sizeOf(delta) < sizeOf({ base: undefined, entries, removed: [] });
  return changes < mostChanged * entries.length && isSmaller ? delta : undefined;
}

const bytesOfDigest = 75;

/** Estimates the encoded size; encoding it twice took longer than everything else. */
function sizeOf({ base, entries, removed }: IndexDelta): number {
  let bytes = base === undefined ? 0 : bytesOfDigest;
  for (const { key } of removed) bytes += key.length;
  for (const { key, blobs, inputs } of entries) {
    bytes += key.length + blobs.length * bytesOfDigest;
    for (const input of inputs ?? []) bytes += input.length;
  }
  return bytes;
}

function differenceOf(entries: readonly IndexEntry[], base: BaseIndex): IndexDelta {
  const before = new Map(base.entries.map((entry) => [keyText(entry), entry]));
  const changed: IndexEntry[] = [];
  for (const entry of entries) {
    const name = keyText(entry);
    const known = before.get(name);
    before.delete(name);
    if (known === undefined || !isNearlyEqual(entry, known)) changed.push(entry);
  }
  const removed: ResultKey[] = [...before.values()].map(({ namespace, key }) => ({
    namespace,
    key,
  }));
  return { base: base.digest, entries: changed, removed };
}

/**
 * Two builds never request at the same millisecond or take the same time: values this close count as equal to the
 * base's.
 */
const sameFirstMs = 500;
const sameSavedMs = 50;
const sameShare = 0.25;

function isNearlyEqual(entry: IndexEntry, known: IndexEntry): boolean {
  return (
    isNear(entry.firstMs, known.firstMs, sameFirstMs) &&
    (entry.savedMs === undefined || known.savedMs === undefined
      ? entry.savedMs === known.savedMs
      : isNear(entry.savedMs, known.savedMs, sameSavedMs)) &&
    isSameList(entry.blobs.map(digestKey), known.blobs.map(digestKey)) &&
    isSameList(entry.inputs ?? [], known.inputs ?? [])
  );
}

function isNear(one: number, other: number, leastMs: number): boolean {
  return Math.abs(one - other) <= Math.max(leastMs, sameShare * Math.max(one, other));
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, at) => text === other[at]);
}
