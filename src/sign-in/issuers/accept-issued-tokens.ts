import type { CallerRegistry } from "#access/caller-registry.ts";
import { issuedTokenIn } from "./issued-token.ts";
import type { IssuedTokenDesk } from "./issued-token-desk.ts";

/** Callers that may also show a signed token of an issuer that the farm trusts, wherever tokens are taken. */
export function acceptingIssuedTokens(
  callers: CallerRegistry,
  issued: IssuedTokenDesk,
  alsoForget: () => void = () => {},
): CallerRegistry {
  return {
    ...callers,
    identify(authorization, ...more) {
      const token = issuedTokenIn(authorization);
      return token === undefined
        ? callers.identify(authorization, ...more)
        : issued.identify(token);
    },
    forgetAll() {
      callers.forgetAll();
      issued.forgetAll();
      alsoForget();
    },
  };
}
