import type { Principal } from "#access/principal.ts";
import { tokenInHeader } from "#access/token-in-header.ts";
import type { Clock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";
import type { Db, Tx } from "#db/db.ts";
import { finishAttempt, type WhenSignedIn } from "./provider/finish-attempt.ts";
import { callbackPath, type IdentityProvider } from "./provider/identity-provider.ts";
import {
  attemptLastsMs,
  cookieOfAttempt,
  newAttempt,
  secretsOf,
} from "./provider/sign-in-attempt.ts";
import { derived, fingerprintOfSecret, newSecret } from "./sessions/browser-secret.ts";
import { insertCode, takeCode } from "./sessions/code.store.ts";
import { type CookieNames, cookieIn, cookieNames, setCookie } from "./sessions/cookies.ts";
import {
  changesSomething,
  type FarmAddress,
  type RequestOrigin,
  whyForged,
} from "./sessions/forged-request.ts";
import { personBehind, personOfToken, signingIn } from "./sessions/person-behind-token.ts";
import type { BegunSession, FoundSession, SessionService } from "./sessions/session-service.ts";

/** How long a code is valid, in ms: the browser that was opened with it uses it at once. */
const codeMs = 5 * 60_000;
/** How long a note is valid for the page that shows it, in ms. */
const noteMs = 60_000;
const longestNote = 500;

/** The cookies that a browser must store, and the principal that they identify. */
export interface SignedIn {
  readonly cookies: readonly string[];
  readonly principal: string;
}

interface BrowserStanding {
  readonly found: FoundSession;
  readonly csrf: string | undefined;
  /** Why the last sign-in failed, and the cookie that deletes this note. */
  readonly problem: { readonly message: string; readonly cookie: string } | undefined;
}

/**
 * Signs browsers in and out, and identifies them. Cookies are passed as text; other modules handle the rest of HTTP.
 */
interface SignInService {
  /** The name on the sign-in button; undefined without an identity provider. */
  readonly provider: string | undefined;
  /** The address at which people reach the farm. */
  readonly address: FarmAddress;
  /** Returns the session of a browser, and the CSRF token that its pages send with each change. */
  standing(cookie: string | undefined): Promise<BrowserStanding>;
  /**
   * Returns a cookie with a message for the next page. The message is not in the address, where everybody could forge
   * it.
   */
  noteProblem(message: string): string;
  /**
   * Returns the principal of a browser; undefined when it has no session. Throws `permission_denied` for a request that
   * another site caused, and `unauthenticated` for a change after the session has ended.
   */
  identify(cookie: string | undefined, request: RequestOrigin): Promise<Principal | undefined>;
  /** Signs in with a pasted token. */
  withToken(token: string, cookie: string | undefined): Promise<SignedIn>;
  /** Returns a code that signs in the holder of the token once, in the browser that opens it. */
  codeFor(authorization: string): Promise<{ readonly code: string; readonly expiresAt: Date }>;
  withCode(code: string, cookie: string | undefined): Promise<SignedIn>;
  /** Returns the address of the identity provider to which the browser goes. */
  begin(returnTo: string | undefined): Promise<{ readonly url: string; readonly cookie: string }>;
  /** Ends a sign-in when the browser returns from the provider. `query` is that of the callback, with its `?`. */
  finish(
    query: string,
    cookie: string | undefined,
  ): Promise<SignedIn & { readonly returnTo: string }>;
  /** Ends the session. Returns cookies that delete those of the browser. */
  signOut(cookie: string | undefined): Promise<readonly string[]>;
}

interface SignInParts {
  readonly db: Db;
  readonly clock: Clock;
  readonly sessions: SessionService;
  readonly provider: IdentityProvider | undefined;
  readonly address: FarmAddress;
  readonly signedIn?: WhenSignedIn;
}

/** The message that `noteProblem` left for this page; undefined when there is none. */
function problemIn(cookie: string | undefined, names: CookieNames): string | undefined {
  const note = cookieIn(cookie, names.problem);
  return note === undefined ? undefined : readNote(note);
}

export function signInService(parts: SignInParts): SignInService {
  const { db, clock, sessions, provider, address } = parts;
  const names = cookieNames(address.url);
  const redirectUri = new URL(callbackPath, address.url).href;
  const secretIn = (cookie: string | undefined) => cookieIn(cookie, names.session);

  const signedIn = (begun: BegunSession): SignedIn => ({
    principal: begun.principal,
    cookies: [
      setCookie(names.session, begun.secret, {
        isSecure: names.isSecure,
        maxAgeMs: begun.endsAt.getTime() - clock.now().getTime(),
      }),
    ],
  });
  const gone = (name: string) => setCookie(name, "", { isSecure: names.isSecure, maxAgeMs: 0 });

  return {
    provider: provider?.name,
    address,

    async standing(cookie) {
      const message = problemIn(cookie, names);
      const problem = message === undefined ? undefined : { message, cookie: gone(names.problem) };
      const secret = secretIn(cookie);
      if (secret === undefined) return { found: { kind: "unknown" }, csrf: undefined, problem };
      const found = await sessions.find(secret);
      const csrf = found.kind === "live" ? derived(secret, "csrf") : undefined;
      return { found, csrf, problem };
    },

    noteProblem: (message) =>
      setCookie(names.problem, Buffer.from(message.slice(0, longestNote)).toString("base64url"), {
        isSecure: names.isSecure,
        maxAgeMs: noteMs,
      }),

    async identify(cookie, request) {
      const secret = secretIn(cookie);
      if (secret === undefined) return undefined;
      return principalOf(await sessions.find(secret), request, address, derived(secret, "csrf"));
    },

    async withToken(token, cookie) {
      const begun = await db.transaction(async (tx) => {
        const holder = await personBehind(tx, token, clock.now());
        return sessions.begin(tx, signingIn(holder, secretIn(cookie)));
      });
      sessions.forgetAll();
      return signedIn(begun);
    },

    codeFor: (authorization) => createCode(db, tokenInHeader(authorization), clock.now()),

    async withCode(code, cookie) {
      const begun = await db.transaction(async (tx) => {
        const holder = await holderOfCode(tx, code, clock.now());
        return holder && sessions.begin(tx, signingIn(holder, secretIn(cookie)));
      });
      if (begun === undefined) {
        throw new Fault(
          "unauthenticated",
          "this link was used before, or is older than 5 minutes; `grange sign-in` prints another",
        );
      }
      sessions.forgetAll();
      return signedIn(begun);
    },

    async begin(returnTo) {
      const attempt = newAttempt(clock.now(), returnTo);
      const { href } = await required(provider).addressFor(secretsOf(attempt), redirectUri);
      const options = { isSecure: names.isSecure, maxAgeMs: attemptLastsMs };
      return { url: href, cookie: setCookie(names.attempt, cookieOfAttempt(attempt), options) };
    },

    async finish(query, cookie) {
      const { begun, returnTo } = await finishAttempt(
        {
          db,
          clock,
          provider: required(provider),
          sessions,
          signedIn: parts.signedIn ?? (async () => {}),
          callback: new URL(query, redirectUri),
        },
        { attempt: cookieIn(cookie, names.attempt), session: secretIn(cookie) },
      );
      sessions.forgetAll();
      const { cookies, principal } = signedIn(begun);
      return { cookies: [...cookies, gone(names.attempt)], principal, returnTo };
    },

    async signOut(cookie) {
      const secret = secretIn(cookie);
      if (secret !== undefined) await sessions.end(db, fingerprintOfSecret(secret).id);
      sessions.forgetAll();
      return [gone(names.session), gone(names.attempt)];
    },
  };
}

/**
 * Returns the principal of a session; undefined when there is none. Throws `permission_denied` for a request that
 * another site caused, and `unauthenticated` for a change after the session has ended.
 */
function principalOf(
  found: FoundSession,
  request: RequestOrigin,
  address: FarmAddress,
  csrf: string,
): Principal | undefined {
  // The cookie belongs to another farm that had this address before: the user cannot change that.
  if (found.kind === "unknown") return undefined;
  if (found.kind === "over") {
    // Everybody may read, but a change that a user wanted to make under a name is not made as `anyone`.
    if (!changesSomething(request.method)) return undefined;
    throw new Fault(
      "unauthenticated",
      `the session of ${found.principal} has ended (${found.why}): sign in again, or sign out to continue without a user`,
    );
  }
  const why = whyForged(request, address, csrf);
  if (why === undefined) return found.principal;
  throw new Fault(
    "permission_denied",
    `the request is not accepted in the name of ${found.principal.name}: ${why}`,
  );
}

function required(provider: IdentityProvider | undefined): IdentityProvider {
  if (provider !== undefined) return provider;
  throw new Fault(
    "failed_precondition",
    "this farm has no identity provider; sign in with a token (`grange token create NAME` makes one)",
  );
}

/** Stores a new code for the holder of a token. Only its hash is stored. */
async function createCode(db: Db, token: string, now: Date) {
  const { tokenId } = await personBehind(db, token, now);
  const code = newSecret();
  const { hash } = fingerprintOfSecret(code);
  const expiresAt = new Date(now.getTime() + codeMs);
  await insertCode(db, { hash, tokenId, expiresAt });
  return { code, expiresAt };
}

/**
 * Deletes a code. Returns the holder of its token; undefined when the code is unknown, expired, or belongs to a revoked
 * token.
 */
async function holderOfCode(tx: Tx, code: string, now: Date) {
  const taken = await takeCode(tx, fingerprintOfSecret(code).hash);
  if (taken === undefined || taken.expiresAt <= now) return undefined;
  return personOfToken(tx, taken.tokenId, now);
}

function readNote(note: string): string {
  return Buffer.from(note, "base64url").toString("utf8").slice(0, longestNote);
}
