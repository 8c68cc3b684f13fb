import type { Right } from "#core/right.ts";
import type { Verb } from "#core/verb.ts";
import { type Principal, type Where, wholeFarm } from "./principal.ts";
import { mayDo, requireGrant, requireGrantSomewhere } from "./require-grant.ts";

/**
 * Checks the right that an endpoint or a gRPC method states, before its handler runs.
 *
 * Throws `permission_denied` that names the grant which would help.
 */
export function requireRight(principal: Principal, right: Right): void {
  switch (right.kind) {
    case "none":
      return;
    case "farm":
      if (right.verbs.some((verb) => mayDo(principal, verb, wholeFarm))) return;
      return requireGrant(principal, right.verbs[0], wholeFarm);
    // Checked here without the place, before anything of the call is read; then with it (`requireRightAt`).
    case "at":
    case "list":
    case "some":
      return requireGrantSomewhere(principal, ...right.verbs);
  }
}

/**
 * Checks a right at the places of an object that a caller may know of: one place suffices.
 *
 * Throws `permission_denied` that names the grant which would help.
 */
export function requireRightAt(
  principal: Principal,
  verbs: readonly [Verb, ...Verb[]],
  places: readonly Where[],
): void {
  if (places.some((place) => verbs.some((verb) => mayDo(principal, verb, place)))) return;
  requireGrant(principal, verbs[0], places[0] ?? wholeFarm);
}
