import type { Packed } from "./key-map.ts";
import type { PackedKind, RecordKind } from "./pack-record.ts";

/** What a record changes for its name. */
type Change = "is" | "gone" | "used";

/** What happens to a record whose segment is removed. */
type Copying = "moved" | "rewritten" | "dropped";

interface RewrittenRecord {
  readonly change: Change;
  readonly segment: number;
  readonly at: number;
  readonly usedAtS: number;
}

export interface Rewriting {
  /** Whether no other segment has older records. */
  readonly isOldest: boolean;
  readonly isDiskFull: boolean;
  /** Whether its content was moved out of this segment; the copy then contains the time of use. */
  readonly isMoved: boolean;
}

/**
 * Returns what to do with a record. `known`: the place that memory has for the record's name, if
 * any.
 */
export function whatToCopy(
  { change, segment, at, usedAtS }: RewrittenRecord,
  known: Packed | undefined,
  { isOldest, isDiskFull, isMoved }: Rewriting,
): Copying {
  switch (change) {
    case "is":
      return known?.segment === segment && known.at === at ? "moved" : "dropped";
    case "gone":
      // An older segment may still contain the content that this record removes.
      return known === undefined && !isOldest ? "rewritten" : "dropped";
    case "used": {
      // Keeps the last recorded use of content in another segment; without it, the next process would think that the
      // content was never used again.
      const isLast = known?.usedAtS === usedAtS && known.segment !== segment;
      return isLast && !isMoved && !isDiskFull ? "rewritten" : "dropped";
    }
  }
}

export function changeOf(kind: RecordKind): { readonly kind: PackedKind; readonly change: Change } {
  const [of, change = "is"] = kind.split("-") as [PackedKind, ("gone" | "used")?];
  return { kind: of, change };
}
