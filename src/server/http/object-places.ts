import type { Where } from "#access/principal.ts";
import type { PlacePatterns } from "#core/place-patterns.ts";
import type { ObjectKind } from "#core/right.ts";

/** The parts of a call that name an object. */
export interface NamingCall {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
}

/** The places of an object, and the path parameters with its whole name. */
interface ObjectPlaces {
  readonly places: readonly Where[];
  readonly params?: Readonly<Record<string, string>>;
}

/**
 * Finds the places of objects that calls name.
 *
 * `visible` are the places that the caller may know of. For an object elsewhere a finder throws exactly what it throws
 * when there is no such object, so that the answer says nothing of it.
 */
export type ObjectFinders = Readonly<
  Record<ObjectKind, (call: NamingCall, visible: PlacePatterns) => Promise<ObjectPlaces>>
>;
