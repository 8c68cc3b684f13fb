import { setImmediate } from "node:timers/promises";
import { changeOf, type Rewriting, whatToCopy } from "./choose-to-copy.ts";
import { shortKey } from "./key-set.ts";
import type { PlacedRecord } from "./pack-segments.ts";
import {
  append,
  drop,
  hexIn,
  type PackState,
  readByKey,
  recordRemoval,
  recordUse,
} from "./pack-state.ts";

const copiesPerTurn = 50;

/**
 * Copies the valid records of a segment to the end of the newest; removes the segment when they are on disk. On a full
 * disk it is removed first: a kill at that moment loses data that a cache may lose.
 */
export async function rewriteSegment(
  pack: PackState,
  segment: number,
  isDiskFull: boolean,
  signal: AbortSignal,
): Promise<void> {
  const isOldest = pack.segments.sizes().every((other) => other.segment >= segment);
  const later: (() => void)[] = [];
  let copied = 0;
  const moved = new Set<number>();
  for (const [i, { head, at }] of pack.segments.records(segment).entries()) {
    if (signal.aborted) return;
    const copy = copyOf(pack, { head, segment, at }, { isOldest, isDiskFull }, moved);
    if (copy === undefined) continue;
    if (isDiskFull) {
      later.push(copy);
      continue;
    }
    copy();
    copied++;
    if (i % copiesPerTurn === copiesPerTurn - 1) await setImmediate();
  }
  if (copied > 0) await pack.segments.sync();
  pack.segments.remove(segment);
  for (const copy of later) copy();
  dropRestOf(pack, segment);
}

/** Drops the records of a segment that became corrupt since it was opened and were not found again. */
function dropRestOf(pack: PackState, segment: number): void {
  if (pack.liveIn.get(segment)) {
    for (const kind of ["result", "blob"] as const) {
      // In this map, entries move when one is removed.
      const all = [...pack.maps[kind].entries()];
      for (const [key, packed] of all) if (packed.segment === segment) drop(pack, kind, key);
    }
  }
  pack.liveIn.delete(segment);
}

/** Returns the record to write again, with the changes that memory holds; undefined for a dead one. */
function copyOf(
  pack: PackState,
  { head, segment, at }: PlacedRecord,
  how: Omit<Rewriting, "isMoved">,
  moved: Set<number>,
): (() => void) | undefined {
  const { kind, change } = changeOf(head.kind);
  const key = shortKey(hexIn(head.name));
  const known = pack.maps[kind].get(key);
  const { usedAtS } = head;
  const isMoved = moved.has(key);
  switch (whatToCopy({ change, segment, at, usedAtS }, known, { ...how, isMoved })) {
    case "dropped":
      return undefined;
    case "rewritten":
      return change === "gone"
        ? () => recordRemoval(pack, kind, head.name)
        : () => recordUse(pack, kind, head.name, usedAtS);
    case "moved": {
      const read = readByKey(pack, kind, key);
      if (read === undefined) return undefined;
      moved.add(key);
      return () => {
        try {
          append(pack, kind, read.name, read.bytes, known?.usedAtS ?? 0);
        } catch (reason) {
          // Its old place no longer exists, or will be removed.
          if (!how.isDiskFull) throw reason;
          drop(pack, kind, key);
        }
      };
    }
  }
}
