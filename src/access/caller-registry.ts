import { hash } from "node:crypto";
import type { Clock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import type { Db } from "#db/db.ts";
import { effectiveGrants, grantsOf } from "./grant.store.ts";
import { judgeToken } from "./judge-token.ts";
import { principalNamed } from "./principal.store.ts";
import { anyone, MachineKind, type Principal, PrincipalName } from "./principal.ts";
import { fingerprintOf } from "./secret-token.ts";
import { storedToken } from "./token.store.ts";
import { longestHeader, tokenInHeader } from "./token-in-header.ts";

/**
 * How long a result from the database is reused, in ms.
 *
 * A revoked token stays valid on other servers for this time, and a new grant may not be valid yet. The server that
 * made the change applies it at once.
 */
export const callerCacheMs = 2_000;

/** Each takes some hundred bytes. Only valid tokens are kept, so guesses cannot crowd them out. */
const mostCallers = 1_000;

interface Caller {
  readonly principal: Principal;
  /** When the token expires; never for callers without a token. */
  readonly goodUntil: Date | null;
}

interface Known {
  readonly believedUntil: Date;
  readonly caller: Promise<Caller>;
}

/** The cached result for one header: the caller that it names. */
interface Remembered {
  readonly principal: Principal;
  /** When it must be read again. */
  readonly until: Date;
}

/** Finds principals by the tokens that they send. */
export interface CallerRegistry {
  /**
   * Returns the principal behind an `Authorization` header. Without a header, returns the principal to whose name the
   * client certificate of the connection was issued. Throws `unauthenticated`. `address`: by which the caller is
   * counted when its token is wrong.
   */
  identify(
    authorization: string | undefined,
    certificateOf?: string,
    address?: string,
  ): Promise<Principal>;
  /** Must be called after rights or tokens have changed. */
  forgetAll(): void;
}

/**
 * @param prepare called with the name of a principal before its rights are read
 */
export function callerRegistry(
  db: Db,
  clock: Clock,
  prepare: (principal: string) => Promise<void> = async () => {},
): CallerRegistry {
  let known = recentlyUsed<Known>(mostCallers);
  // A separate cache: one token can occur in many Basic headers, and its holder must not evict other callers from the
  // cache above.
  let headers = recentlyUsed<Remembered>(mostCallers);

  const lookUp = async (token: string | undefined): Promise<Caller> => {
    if (token === undefined)
      return { principal: { name: anyone, grants: await grantsOf(db, anyone) }, goodUntil: null };
    const fingerprint = fingerprintOf(token);
    const stored = await storedToken(db, fingerprint.id);
    const { principal, expiresAt } = judgeToken(fingerprint, stored, clock.now());
    return { principal: await rightsOf(principal), goodUntil: expiresAt };
  };

  const rightsOf = async (name: string): Promise<Principal> => {
    await prepare(name);
    const [known, grants] = await Promise.all([
      principalNamed(db, name),
      effectiveGrants(db, [name]),
    ]);
    const quarantine = known?.quarantine ?? null;
    return {
      name,
      grants,
      ...(known === undefined ? {} : { kind: known.kind }),
      ...(quarantine === null ? {} : { quarantine }),
    };
  };

  /** An authority may sign any certificate; only a name that is registered here as a machine is accepted. */
  const lookUpMachine = async (name: string): Promise<Caller> => {
    const principal = PrincipalName.safeParse(name).success ? await rightsOf(name) : undefined;
    if (MachineKind.safeParse(principal?.kind).success && principal !== undefined) {
      return { principal, goodUntil: null };
    }
    throw new Fault(
      "unauthenticated",
      `this farm knows no machine called ${JSON.stringify(name.slice(0, 80))}, which is the name in your certificate: ` +
        "an administrator can add it with `grange token create NAME --enrol worker`",
    );
  };

  const readHeader = async (
    authorization: string | undefined,
    certificateOf: string | undefined,
    now: Date,
  ): Promise<Remembered> => {
    const token = authorization === undefined ? undefined : tokenInHeader(authorization);
    const machine = token === undefined ? certificateOf : undefined;
    const key = token === undefined ? (machine === undefined ? "" : `cn ${machine}`) : keyOf(token);
    const kept = known;
    const ask = (): Known => {
      const caller = machine === undefined ? lookUp(token) : lookUpMachine(machine);
      caller.catch(() => kept.forget(key));
      return { believedUntil: new Date(now.getTime() + callerCacheMs), caller };
    };
    const found = kept.get(key, ask);
    const first = rememberedOf(found, await found.caller);
    if (now < first.until) return first;
    const again = ask();
    kept.set(key, again);
    return rememberedOf(again, await again.caller);
  };

  return {
    async identify(authorization, certificateOf) {
      const now = clock.now();
      if (authorization === undefined || authorization.length > longestHeader)
        return (await readHeader(authorization, certificateOf, now)).principal;
      const kept = headers;
      const key = keyOf(authorization);
      const remembered = kept.peek(key);
      if (remembered !== undefined && now < remembered.until) return remembered.principal;
      const read = await readHeader(authorization, certificateOf, now);
      kept.set(key, read);
      return read.principal;
    },
    forgetAll() {
      known = recentlyUsed<Known>(mostCallers);
      headers = recentlyUsed<Remembered>(mostCallers);
    },
  };
}

function rememberedOf({ believedUntil }: Known, { principal, goodUntil }: Caller): Remembered {
  const until = goodUntil !== null && goodUntil < believedUntil ? goodUntil : believedUntil;
  return { principal, until };
}

/**
 * Returns the hash of a header, so that no valid token is kept in memory. Uses `hash`, because it runs for each call
 * and `createHash` takes five times as long.
 */
function keyOf(secret: string): string {
  return hash("sha256", secret, "base64");
}
