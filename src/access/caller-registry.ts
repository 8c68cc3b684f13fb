import type { Clock } from "#core/clock.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import type { Db } from "#db/db.ts";
import { grantsOf } from "./grant.store.ts";
import { judgeToken } from "./judge-token.ts";
import { anyone, type Principal } from "./principal.ts";
import { fingerprintOf } from "./secret-token.ts";
import { storedToken } from "./token.store.ts";
import { tokenInHeader } from "./token-in-header.ts";

/**
 * How long an answer is believed without asking the database again.
 *
 * So long may a token be good elsewhere after it was revoked here, and a grant not yet hold. The
 * server that made the change knows at once.
 */
export const believedMs = 2_000;

/** Some hundred bytes each. Only good tokens are kept: nobody can crowd them out with guesses. */
const mostCallers = 1_000;

interface Caller {
  readonly principal: Principal;
  /** When the token runs out; never, for who sends none. */
  readonly goodUntil: Date | null;
}

interface Known {
  readonly believedUntil: Date;
  readonly caller: Promise<Caller>;
}

/** Who calls: principals by the tokens that they send. */
export interface CallerRegistry {
  /** The principal behind an `Authorization` header; throws `unauthenticated`. */
  identify(authorization: string | undefined): Promise<Principal>;
  /** To be called after rights or tokens have changed. */
  forgetAll(): void;
}

export function callerRegistry(db: Db, clock: Clock): CallerRegistry {
  let known = recentlyUsed<Known>(mostCallers);

  const lookUp = async (token: string | undefined): Promise<Caller> => {
    if (token === undefined)
      return { principal: { name: anyone, grants: await grantsOf(db, anyone) }, goodUntil: null };
    const fingerprint = fingerprintOf(token);
    const stored = await storedToken(db, fingerprint.id);
    const { principal, expiresAt } = judgeToken(fingerprint, stored, clock.now());
    const grants = await grantsOf(db, principal);
    return { principal: { name: principal, grants }, goodUntil: expiresAt };
  };

  return {
    async identify(authorization) {
      const token = authorization === undefined ? undefined : tokenInHeader(authorization);
      // The hash, so that no list of good tokens lies in memory.
      const key = token === undefined ? "" : fingerprintOf(token).hash.toString("hex");
      const now = clock.now();
      const kept = known;
      const ask = (): Known => {
        const caller = lookUp(token);
        caller.catch(() => kept.forget(key));
        return { believedUntil: new Date(now.getTime() + believedMs), caller };
      };
      const found = kept.get(key, ask);
      const { principal, goodUntil } = await found.caller;
      if (now < found.believedUntil && (goodUntil === null || now < goodUntil)) return principal;
      const again = ask();
      kept.set(key, again);
      return (await again.caller).principal;
    },
    forgetAll() {
      known = recentlyUsed<Known>(mostCallers);
    },
  };
}
