import { createHash } from "node:crypto";
import type { Clock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";
import { returnAddress } from "#core/return-address.ts";
import type { Db } from "#db/db.ts";
import { derived, newSecret } from "../sessions/browser-secret.ts";
import { forgetAttempts, insertAttempt } from "./attempt.store.ts";
import type { AttemptSecrets, IdentityProvider } from "./identity-provider.ts";

/** Where providers send people back to; they must have been told of it. */
export const callbackPath = "/auth/callback";

/** Time for a forgotten password, and a second factor. */
const lastsMs = 10 * 60_000;
/** Nobody has to be anybody to begin one: rows of 300 bytes, 3 MB in all. */
const mostAttempts = 10_000;

export interface BeginningAttempt {
  readonly db: Db;
  readonly clock: Clock;
  readonly provider: IdentityProvider;
  readonly redirectUri: string;
}

/** All follows from what the browser keeps: what lies in the table lets nobody finish it. */
export function secretsOf(browserSecret: string): AttemptSecrets {
  return {
    state: derived(browserSecret, "state"),
    nonce: derived(browserSecret, "nonce"),
    verifier: derived(browserSecret, "verifier"),
  };
}

export function hashOfState(state: string): Buffer {
  return createHash("sha256").update(state).digest();
}

/** Makes up an attempt to sign in, remembers it, and says where to send the browser. */
export async function beginAttempt(
  { db, clock, provider, redirectUri }: BeginningAttempt,
  returnTo: string | undefined,
): Promise<{ readonly secret: string; readonly url: string; readonly lastsMs: number }> {
  const secret = newSecret();
  const secrets = secretsOf(secret);
  const url = await provider.addressFor(secrets, redirectUri);
  const now = clock.now();
  await db.transaction(async (tx) => {
    await forgetAttempts(tx, now);
    const expiresAt = new Date(now.getTime() + lastsMs);
    const stateHash = hashOfState(secrets.state);
    const attempt = { stateHash, returnTo: returnAddress(returnTo), expiresAt };
    if (await insertAttempt(tx, attempt, mostAttempts)) return;
    throw new Fault(
      "resource_exhausted",
      `${mostAttempts} people are signing in already; try again in ten minutes`,
    );
  });
  return { secret, url: url.href, lastsMs };
}
