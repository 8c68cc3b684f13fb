import { anyone, type Principal } from "#access/principal.ts";
import { isSameHash } from "#access/secret-token.ts";
import { storedToken } from "#access/token.store.ts";
import type { Clock } from "#core/clock.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import type { Db, Tx } from "#db/db.ts";
import { rightsOf } from "../rights-of.ts";
import { fingerprintOfSecret, isSecretShaped, newSecret } from "./browser-secret.ts";
import { judgeSession, type SessionTimes, sessionTimes } from "./judge-session.ts";
import {
  endSession,
  insertSession,
  type SessionBasis,
  type StoredSession,
  storedSession,
  touchSession,
} from "./session.store.ts";

interface LiveSession {
  readonly kind: "live";
  readonly id: string;
  readonly principal: Principal;
  readonly voucher:
    | { readonly kind: "token"; readonly tokenId: string }
    | { readonly kind: "provider"; readonly issuer: string };
  readonly since: Date;
  /** When the session expires if it is not used before. */
  readonly until: Date;
  readonly endsAt: Date;
}

export type FoundSession =
  | LiveSession
  /** The cookie belonged to a session of this farm. */
  | {
      readonly kind: "over";
      readonly principal: string;
      readonly why: "signed out" | "idle" | "aged" | "its token ended";
    }
  | { readonly kind: "unknown" };

export interface BegunSession {
  /** The secret for the cookie: only the browser knows it. */
  readonly secret: string;
  readonly principal: string;
  readonly endsAt: Date;
}

/** The sessions of signed-in browsers. Several servers can share them. */
export interface SessionService {
  find(secret: string): Promise<FoundSession>;
  /**
   * Signs a browser in with a new secret, and ends the session that it came with, because an attacker may have planted
   * its cookie.
   */
  begin(tx: Tx, wanted: NewSignIn): Promise<BegunSession>;
  end(tx: Tx, id: string): Promise<StoredSession | undefined>;
  /** Called after rights, tokens or sessions have changed. */
  forgetAll(): void;
}

export interface NewSignIn {
  readonly principal: string;
  readonly groups: readonly string[];
  readonly voucher: SessionBasis;
  /** The session cannot be longer than the token or the identity that it is based on. */
  readonly notAfter: Date | null;
  readonly formerSecret: string | undefined;
}

/** As long as the result for a token is cached; see the registry of callers. */
const callerCacheMs = 2_000;
const mostKept = 1_000;

interface Kept {
  readonly believedUntil: Date;
  readonly found: LiveSession;
}

export function sessionService(
  db: Db,
  clock: Clock,
  times: SessionTimes = sessionTimes,
  /** Called with the name of a principal before its rights are read, outside of transactions. */
  prepare: (principal: string) => Promise<void> = async () => {},
): SessionService {
  let kept = recentlyUsed<Kept>(mostKept);

  const lookUp = async (secret: string): Promise<FoundSession> => {
    const { id, hash } = fingerprintOfSecret(secret);
    const named = await storedSession(db, id);
    if (named !== undefined && isSameHash(named.hash, hash)) await prepare(named.principal);
    return lookUpPrepared(secret);
  };
  const lookUpPrepared = (secret: string): Promise<FoundSession> =>
    db.transaction(async (tx) => {
      const { id, hash } = fingerprintOfSecret(secret);
      const stored = await storedSession(tx, id);
      if (stored === undefined || !isSameHash(stored.hash, hash)) return { kind: "unknown" };
      const { principal } = stored;
      const now = clock.now();
      const state = judgeSession(stored, times, now);
      if (state.kind === "over") return { ...state, principal };
      if (!(await isTokenGood(tx, stored.tokenId, now))) {
        return { kind: "over", principal, why: "its token ended" };
      }
      await touchSession(tx, id, now);
      return {
        kind: "live",
        id,
        // On an open farm, sign-in is optional and must not reduce a user's rights.
        principal: await rightsOf(tx, principal, [...stored.groups, anyone]),
        voucher: voucherOf(stored),
        since: stored.createdAt,
        until: state.until,
        endsAt: stored.endsAt,
      };
    });

  return {
    async find(secret) {
      if (!isSecretShaped(secret)) return { kind: "unknown" };
      const key = fingerprintOfSecret(secret).hash.toString("hex");
      const now = clock.now();
      const known = kept.peek(key);
      if (known !== undefined && now < known.believedUntil && now < known.found.until) {
        return known.found;
      }
      const keeping = kept;
      const found = await lookUp(secret);
      // Only valid sessions, so that guesses cannot push them out of the cache.
      if (found.kind === "live") {
        keeping.set(key, { believedUntil: new Date(now.getTime() + callerCacheMs), found });
      } else keeping.forget(key);
      return found;
    },

    async begin(tx, { principal, groups, voucher, notAfter, formerSecret }) {
      const now = clock.now();
      if (formerSecret !== undefined && isSecretShaped(formerSecret)) {
        await endSession(tx, fingerprintOfSecret(formerSecret).id, now);
      }
      const secret = newSecret();
      const whole = new Date(now.getTime() + times.wholeMs);
      const endsAt = notAfter !== null && notAfter < whole ? notAfter : whole;
      const fingerprint = fingerprintOfSecret(secret);
      await insertSession(tx, { fingerprint, principal, groups, voucher, endsAt }, now);
      return { secret, principal, endsAt };
    },

    end: (tx, id) => endSession(tx, id, clock.now()),

    forgetAll() {
      kept = recentlyUsed<Kept>(mostKept);
    },
  };
}

async function isTokenGood(tx: Tx, tokenId: string | null, now: Date): Promise<boolean> {
  if (tokenId === null) return true;
  const token = await storedToken(tx, tokenId);
  if (token === undefined || token.revokedAt !== null) return false;
  return token.expiresAt === null || token.expiresAt > now;
}

function voucherOf({ tokenId, issuer }: StoredSession): LiveSession["voucher"] {
  return tokenId === null ? { kind: "provider", issuer: issuer ?? "" } : { kind: "token", tokenId };
}
