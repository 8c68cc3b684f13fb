import type { CallerRegistry } from "#access/caller-registry.ts";
import { issuedTokenIn } from "./issued-token.ts";
import type { IssuedTokenService } from "./issued-token-service.ts";

/** Extends the callers: wherever tokens are accepted, also accepts signed tokens of issuers that the farm trusts. */
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
