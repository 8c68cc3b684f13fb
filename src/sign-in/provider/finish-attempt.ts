import type { Clock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import { isSecretShaped } from "../sessions/browser-secret.ts";
import type { BegunSession, SessionDesk } from "../sessions/session-desk.ts";
import { takeAttempt } from "./attempt.store.ts";
import { hashOfState, secretsOf } from "./begin-attempt.ts";
import type { IdentityProvider } from "./identity-provider.ts";
import { principalOfIdentity } from "./principal-of-identity.ts";

export interface FinishingAttempt {
  readonly db: Db;
  readonly clock: Clock;
  readonly provider: IdentityProvider;
  readonly sessions: SessionDesk;
  /** The address that the provider sent the browser to. */
  readonly callback: URL;
}

/** What the browser brought along. */
export interface BrowserSecrets {
  readonly attempt: string | undefined;
  readonly session: string | undefined;
}

/**
 * Ends an attempt, well or not: the state is good once, and only in the browser that began.
 *
 * Taken out before the provider is asked, so that of two who come with one state one is refused.
 */
export async function finishAttempt(
  { db, clock, provider, sessions, callback }: FinishingAttempt,
  browser: BrowserSecrets,
): Promise<{ readonly begun: BegunSession; readonly returnTo: string }> {
  const state = callback.searchParams.getAll("state");
  if (browser.attempt === undefined || !isSecretShaped(browser.attempt)) {
    throw refusal("this browser has not begun to sign in, or ten minutes ago");
  }
  const secrets = secretsOf(browser.attempt);
  if (state.length !== 1 || state[0] !== secrets.state) {
    throw refusal("it answers what another browser, or an older page, began");
  }
  const taken = await takeAttempt(db, hashOfState(secrets.state));
  if (taken === undefined) throw refusal("it was used before");
  if (taken.expiresAt <= clock.now()) throw refusal("it took longer than ten minutes");

  const identity = await provider.identityBehind(callback, secrets);
  const { issuer, subject, groups } = identity;
  const begun = await db.transaction(async (tx) => {
    const principal = await principalOfIdentity(tx, identity, clock.now());
    return sessions.begin(tx, {
      principal,
      groups,
      voucher: { kind: "provider", issuer, subject },
      notAfter: null,
      formerSecret: browser.session,
    });
  });
  return { begun, returnTo: taken.returnTo };
}

function refusal(why: string): Fault {
  return new Fault(
    "permission_denied",
    `this answer to a sign-in is not taken: ${why}; begin again`,
  );
}
