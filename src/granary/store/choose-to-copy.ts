import type { Packed } from "./key-map.ts";
import type { PackedKind, RecordKind } from "./pack-record.ts";

/** The meaning of a record for its name. */
type Change = "is" | "gone" | "used";

/** The treatment of a record whose segment is removed. */
type Copying = "moved" | "said again" | "dropped";

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
  /** Whether its content was moved from this segment: the copy has the time of use. */
  readonly isMoved: boolean;
}

/** `known`: where memory has the record's name, if anywhere. */
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
      return known === undefined && !isOldest ? "said again" : "dropped";
    case "used": {
      // Without the last use of what lies elsewhere, that is as old to the next process as on the day it was made.
      const isLast = known?.usedAtS === usedAtS && known.segment !== segment;
      return isLast && !isMoved && !isDiskFull ? "said again" : "dropped";
    }
  }
}

export function changeOf(kind: RecordKind): { readonly kind: PackedKind; readonly change: Change } {
  const [of, change = "is"] = kind.split("-") as [PackedKind, ("gone" | "used")?];
  return { kind: of, change };
}
