import { returnAddress } from "#core/return-address.ts";
import { derived, isSecretShaped, newSecret } from "../sessions/browser-secret.ts";
import type { AttemptSecrets } from "./identity-provider.ts";

/** Enough time to reset a password and enter a second factor. */
export const attemptLastsMs = 10 * 60_000;

/**
 * A sign-in of a user who was sent to the identity provider and has not returned.
 *
 * The browser's cookie contains the whole attempt, and the server stores nothing: everybody may start a sign-in, so
 * strangers could fill a store.
 */
interface SignInAttempt {
  readonly secret: string;
  readonly expiresAt: Date;
  /** A page of this farm. */
  readonly returnTo: string;
}

/** Creates an attempt with a new secret. */
export function newAttempt(now: Date, returnTo: string | undefined): SignInAttempt {
  return {
    secret: newSecret(),
    expiresAt: new Date(now.getTime() + attemptLastsMs),
    returnTo: returnAddress(returnTo),
  };
}

/** Returns the text for the cookie: at most about 1,400 characters. */
export function cookieOfAttempt({ secret, expiresAt, returnTo }: SignInAttempt): string {
  return [secret, expiresAt.getTime(), Buffer.from(returnTo).toString("base64url")].join(".");
}

/** Reads the text of a cookie; undefined for text that `cookieOfAttempt` never returns. */
export function attemptOfCookie(text: string): SignInAttempt | undefined {
  const [secret = "", expires = "", returnTo = "", ...more] = text.split(".");
  if (!isSecretShaped(secret) || !/^\d{1,15}$/.test(expires) || more.length > 0) return undefined;
  return {
    secret,
    expiresAt: new Date(Number(expires)),
    // Checked again, because a user can change the cookies of the browser.
    returnTo: returnAddress(Buffer.from(returnTo, "base64url").toString("utf8")),
  };
}

/**
 * Returns the values that are sent to the provider for an attempt.
 *
 * The state is derived from the whole content of the cookie, so it is invalid with another time limit or page.
 */
export function secretsOf(attempt: SignInAttempt): AttemptSecrets {
  const { secret } = attempt;
  return {
    state: derived(cookieOfAttempt(attempt), "state"),
    nonce: derived(secret, "nonce"),
    verifier: derived(secret, "verifier"),
  };
}
