/** A pattern of repositories (or projects) and one of branches; `*` stands for any characters, or for none. */
interface PlacePattern {
  readonly repository: string;
  readonly branch: string;
}

/**
 * The places where a caller has a right, as patterns: the union of all of them. Lists are filtered by it in SQL
 * (`#db/in-places.ts`), so that counts and pages are right.
 */
export interface PlacePatterns {
  /** Whether a pattern covers all places: then a list needs no filter. */
  readonly everywhere: boolean;
  readonly patterns: readonly PlacePattern[];
}

export const allPlaces: PlacePatterns = {
  everywhere: true,
  patterns: [{ repository: "*", branch: "*" }],
};

export const noPlaces: PlacePatterns = { everywhere: false, patterns: [] };
