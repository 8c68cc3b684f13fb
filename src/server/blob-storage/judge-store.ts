/** What a server knows when it opens a store of blobs. */
export interface StoreSeen {
  /** The id of the database's farm. */
  readonly farm: string;
  /** Whether a store has ever been this farm's. */
  readonly hasStore: boolean;
  /** The id of the farm that the store belongs to; undefined where it belongs to none. */
  readonly owner: string | undefined;
  /** The database and the store are in one data directory, which only one server uses at a time. */
  readonly isAlone: boolean;
  /** The operator requested that this store belongs to the farm from now on. */
  readonly adopt: boolean;
}

export type StoreVerdict =
  | { readonly kind: "ours" }
  /** Write the farm's id into it. */
  | { readonly kind: "claim" }
  | { readonly kind: "refuse"; readonly why: "another farm's" | "not the farm's" };

/**
 * Decides whether a server may use a store of blobs. Two servers of one farm with separate stores would each lack the
 * blobs of the other; two farms with one store would each remove blobs that the other needs.
 */
export function judgeStore({ farm, hasStore, owner, isAlone, adopt }: StoreSeen): StoreVerdict {
  if (owner === farm) return { kind: "ours" };
  if (adopt) return { kind: "claim" };
  if (owner !== undefined) return { kind: "refuse", why: "another farm's" };
  // The farm is older than the ids of stores, or the store was emptied, which only loses its content.
  if (!hasStore || isAlone) return { kind: "claim" };
  return { kind: "refuse", why: "not the farm's" };
}
