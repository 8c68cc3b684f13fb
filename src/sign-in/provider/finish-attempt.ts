import { createHash } from "node:crypto";
import type { Clock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";
import type { Db, Tx } from "#db/db.ts";
import type { BegunSession, SessionService } from "../sessions/session-service.ts";
import type { ClaimedIdentity } from "./identity-of-claims.ts";
import type { IdentityProvider } from "./identity-provider.ts";
import { principalOfIdentity } from "./principal-of-identity.ts";
import { attemptLastsMs, attemptOfCookie, secretsOf } from "./sign-in-attempt.ts";
import { recordUsedState } from "./used-state.store.ts";

interface FinishingAttempt {
  readonly db: Db;
  readonly clock: Clock;
  readonly provider: IdentityProvider;
  readonly sessions: SessionService;
  /** The address to which the provider redirected the browser. */
  readonly callback: URL;
  readonly signedIn: WhenSignedIn;
}

/** Called in the transaction that begins a session by a provider's answer. */
export type WhenSignedIn = (
  tx: Tx,
  principal: string,
  identity: Pick<ClaimedIdentity, "issuer" | "githubLogin">,
) => Promise<void>;

/** The server that started the attempt may have another clock. */
const clockToleranceMs = 60_000;

/** The values of the browser's cookies. */
interface BrowserSecrets {
  readonly attempt: string | undefined;
  readonly session: string | undefined;
}

/**
 * Ends an attempt, successfully or not: a state is accepted once, and only from the browser that started the attempt.
 *
 * The state is recorded as used before the provider is contacted, so that only one of two callers with the same state
 * succeeds. Throws `permission_denied`.
 */
export async function finishAttempt(
  { db, clock, provider, sessions, callback, signedIn }: FinishingAttempt,
  browser: BrowserSecrets,
): Promise<{ readonly begun: BegunSession; readonly returnTo: string }> {
  const state = callback.searchParams.getAll("state");
  const attempt = browser.attempt === undefined ? undefined : attemptOfCookie(browser.attempt);
  if (attempt === undefined) {
    throw refusal("this browser has not begun to sign in, or began more than ten minutes ago");
  }
  const secrets = secretsOf(attempt);
  if (state.length !== 1 || state[0] !== secrets.state) {
    throw refusal("it belongs to a sign-in that another browser or an older page began");
  }
  const now = clock.now().getTime();
  const expires = attempt.expiresAt.getTime();
  // If a cookie claims more time than an attempt can have, the user of the browser has changed it.
  if (expires <= now || expires > now + attemptLastsMs + clockToleranceMs) {
    throw refusal("it took longer than ten minutes");
  }
  const stateHash = createHash("sha256").update(secrets.state).digest();
  if (!(await recordUsedState(db, stateHash, attempt.expiresAt))) {
    throw refusal("it was used before");
  }

  const identity = await provider.identityBehind(callback, secrets);
  const { issuer, subject, groups } = identity;
  const begun = await db.transaction(async (tx) => {
    const principal = await principalOfIdentity(tx, identity, clock.now());
    await signedIn(tx, principal, identity);
    return sessions.begin(tx, {
      principal,
      groups,
      voucher: { kind: "provider", issuer, subject },
      notAfter: null,
      formerSecret: browser.session,
    });
  });
  return { begun, returnTo: attempt.returnTo };
}

function refusal(why: string): Fault {
  return new Fault("permission_denied", `the sign-in was refused: ${why}; sign in again`);
}
