/** What a server knows when it opens a store of blobs. */
export interface StoreSeen {
  /** The id of the database's farm. */
  readonly farm: string;
  /** Whether a store has ever been this farm's. */
  readonly hasStore: boolean;
  /** The id of the farm that the store belongs to; undefined where it belongs to none. */
  readonly owner: string | undefined;
  /** Database and store lie in one data directory, which one server at a time uses. */
  readonly isAlone: boolean;
  /** The operator said that this store shall be the farm's from now on. */
  readonly adopt: boolean;
}

export type StoreVerdict =
  | { readonly kind: "ours" }
  /** Write the farm's id into it. */
  | { readonly kind: "claim" }
  | { readonly kind: "refuse"; readonly why: "another farm's" | "not the farm's" };

/**
 * Whether a server may work with a store of blobs. Two servers of one farm with stores of their own would each miss
 * what the other has; two farms with one store would each remove what the other needs.
 */
export function judgeStore({ farm, hasStore, owner, isAlone, adopt }: StoreSeen): StoreVerdict {
  if (owner === farm) return { kind: "ours" };
  if (adopt) return { kind: "claim" };
  if (owner !== undefined) return { kind: "refuse", why: "another farm's" };
  // A farm from before stores had an owner; or somebody emptied the store, which only costs what was in it.
  if (!hasStore || isAlone) return { kind: "claim" };
  return { kind: "refuse", why: "not the farm's" };
}
