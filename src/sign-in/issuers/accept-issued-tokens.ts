import type { CallerRegistry } from "#access/caller-registry.ts";
import { issuedTokenIn } from "./issued-token.ts";
import type { IssuedTokenService } from "./issued-token-service.ts";

/** Callers that may also show a signed token of an issuer that the farm trusts, wherever tokens are taken. */
export function acceptingIssuedTokens(
  callers: CallerRegistry,
  issued: IssuedTokenService,
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
