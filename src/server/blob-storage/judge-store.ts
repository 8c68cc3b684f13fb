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
  | { readonly kind: "refuse"; readonly why: RefusedStore };

type RefusedStore = "another farm's" | "not the farm's";

/** Whether the settings of a server put the database and the store into its own data directory. */
export function isStoreAlone(config: {
  readonly databaseUrl?: string | undefined;
  readonly blobs?: string | undefined;
  readonly bucket?: unknown;
}): boolean {
  return [config.databaseUrl, config.blobs, config.bucket].every((set) => set === undefined);
}

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

/** Explains to an operator why a store is refused, and what to do. */
export function explainRefusal(
  why: RefusedStore,
  { place, farm, owner }: { readonly place: string } & Pick<StoreSeen, "farm" | "owner">,
): { readonly problem: string; readonly fix: string } {
  const adopt = "start the server once with --adopt-store";
  switch (why) {
    case "another farm's":
      return {
        problem: `the blobs in ${place} belong to another farm (${owner}) than the database (${farm})`,
        fix:
          "Name this farm's directory in GRANGE_BLOBS or --blobs, or its bucket in GRANGE_STORE or --store, or this store's database in GRANGE_DATABASE_URL. " +
          `If the other farm no longer exists and its blobs shall belong to this one, ${adopt}`,
      };
    case "not the farm's":
      return {
        problem: `the database belongs to a farm (${farm}) whose blobs are elsewhere: ${place} has none of them`,
        fix:
          "All servers of a farm share one store: name its directory in GRANGE_BLOBS or --blobs, or its bucket in GRANGE_STORE or --store. " +
          `If the farm's blobs are lost and the farm shall continue with the content of ${place}, ${adopt}`,
      };
  }
}
