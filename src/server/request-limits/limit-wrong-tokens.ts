import { hash } from "node:crypto";
import type { CallerRegistry } from "#access/caller-registry.ts";
import { anyone } from "#access/principal.ts";
import { credentialInHeader } from "#access/token-in-header.ts";
import { Fault } from "#core/fault.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import type { RequestLimits } from "./request-limits.ts";

/** Valid tokens that are remembered, and as many wrong ones; each by 44 letters. */
const mostRemembered = 20_000;

/**
 * Limits how many different wrong tokens an address may send.
 *
 * An address may be that of many callers. When it is over the limit, tokens that this server has seen valid are
 * accepted as before; other tokens are refused without a look-up, until the limit allows more. A wrong token that is
 * sent again counts once: one machine with an old token does not use up the limit of others behind its address.
 */
export function limitWrongTokens(callers: CallerRegistry, limits: RequestLimits): CallerRegistry {
  const valid = recentlyUsed<true>(mostRemembered);
  const wrong = recentlyUsed<true>(mostRemembered);
  return {
    ...callers,
    async identify(authorization, certificateOf, address) {
      const identify = () => callers.identify(authorization, certificateOf, address);
      if (authorization === undefined || address === undefined) return identify();
      const key = hash("sha256", credentialInHeader(authorization) ?? authorization, "base64");
      const isCounted = valid.peek(key) === undefined && wrong.peek(key) === undefined;
      const requester = { principal: anyone, address };
      // Counted before the look-up, because many may be in progress at once.
      if (isCounted) limits.begin("wrong-tokens", requester);
      try {
        const principal = await identify();
        valid.set(key, true);
        if (isCounted) limits.giveBack("wrong-tokens", requester);
        return principal;
      } catch (reason) {
        valid.forget(key);
        if (reason instanceof Fault && reason.code === "unauthenticated") wrong.set(key, true);
        else if (isCounted) limits.giveBack("wrong-tokens", requester);
        throw reason;
      }
    },
  };
}
