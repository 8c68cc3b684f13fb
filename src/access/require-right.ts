import type { Right } from "#core/right.ts";
import { type Principal, wholeFarm } from "./principal.ts";
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
    case "some":
      return requireGrantSomewhere(principal, ...right.verbs);
  }
}
