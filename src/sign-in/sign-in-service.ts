import type { Principal } from "#access/principal.ts";
import { tokenInHeader } from "#access/token-in-header.ts";
import type { Clock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import { finishAttempt } from "./provider/finish-attempt.ts";
import { callbackPath, type IdentityProvider } from "./provider/identity-provider.ts";
import {
  attemptLastsMs,
  cookieOfAttempt,
  newAttempt,
  secretsOf,
} from "./provider/sign-in-attempt.ts";
import { derived, fingerprintOfSecret, newSecret } from "./sessions/browser-secret.ts";
import { insertCode, takeCode } from "./sessions/code.store.ts";
import { cookieIn, cookieNames, setCookie } from "./sessions/cookies.ts";
import {
  changesSomething,
  type FarmAddress,
  type RequestOrigin,
  whyForged,
} from "./sessions/forged-request.ts";
import { personBehind, personOfToken, signingIn } from "./sessions/person-behind-token.ts";
import type { BegunSession, FoundSession, SessionService } from "./sessions/session-service.ts";

/** A code is used by the browser that was just opened with it. */
const codeMs = 5 * 60_000;
/** Until the page is there that shows it. */
const noteMs = 60_000;
const longestNote = 500;

/** What a browser must keep from now on, and who it is. */
export interface SignedIn {
  readonly cookies: readonly string[];
  readonly principal: string;
}

interface BrowserStanding {
  readonly found: FoundSession;
  readonly csrf: string | undefined;
  /** Why the last sign-in came to nothing, and the cookie that makes it forgotten. */
  readonly problem: { readonly message: string; readonly cookie: string } | undefined;
}

/** Signs browsers in and out, and says who they are. Takes and gives cookies as text; knows no HTTP besides. */
interface SignInService {
  /** What is on the button; undefined without an identity provider. */
  readonly provider: string | undefined;
  /** By which address people reach the farm. */
  readonly address: FarmAddress;
  /** The session of a browser, and the word that its pages send along with what they change. */
  standing(cookie: string | undefined): Promise<BrowserStanding>;
  /** A cookie that keeps a sentence for the page that comes next: in its address, anybody could have written it. */
  noteProblem(message: string): string;
  /**
   * Who a browser is; undefined when it is nobody in particular. Throws `permission_denied` for what
   * another site made it send, and `unauthenticated` for a change after its session was over.
   */
  identify(cookie: string | undefined, request: RequestOrigin): Promise<Principal | undefined>;
  /** With a token that somebody has pasted in. */
  withToken(token: string, cookie: string | undefined): Promise<SignedIn>;
  /** A code that signs in, once, whoever opens a page with it: for the holder of that token. */
  codeFor(authorization: string): Promise<{ readonly code: string; readonly expiresAt: Date }>;
  withCode(code: string, cookie: string | undefined): Promise<SignedIn>;
  /** Sends somebody to the identity provider. */
  begin(returnTo: string | undefined): Promise<{ readonly url: string; readonly cookie: string }>;
  /** Somebody comes back from there. `query` is what stands behind the callback's path, with its `?`. */
  finish(
    query: string,
    cookie: string | undefined,
  ): Promise<SignedIn & { readonly returnTo: string }>;
  /** Answers the cookies that are to go. */
  signOut(cookie: string | undefined): Promise<readonly string[]>;
}

interface SignInParts {
  readonly db: Db;
  readonly clock: Clock;
  readonly sessions: SessionService;
  readonly provider: IdentityProvider | undefined;
  readonly address: FarmAddress;
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

  const withProvider = (): IdentityProvider => {
    if (provider !== undefined) return provider;
    throw new Fault(
      "failed_precondition",
      "this farm has no identity provider; sign in with a token (`grange token create NAME` makes one)",
    );
  };

  return {
    provider: provider?.name,
    address,

    async standing(cookie) {
      const note = cookieIn(cookie, names.problem);
      const problem =
        note === undefined ? undefined : { message: readNote(note), cookie: gone(names.problem) };
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
      const found = await sessions.find(secret);
      // A cookie of another farm that was here before: nobody can do anything about it.
      if (found.kind === "unknown") return undefined;
      if (found.kind === "over") {
        // Reading is free; but what was meant to be done in somebody's name is not done in nobody's.
        if (!changesSomething(request.method)) return undefined;
        throw new Fault(
          "unauthenticated",
          `the session of ${found.principal} is over (${found.why}): sign in again, or sign out to go on as anyone`,
        );
      }
      const why = whyForged(request, address, derived(secret, "csrf"));
      if (why !== undefined) {
        throw new Fault(
          "permission_denied",
          `this is not done in the name of ${found.principal.name}: ${why}`,
        );
      }
      return found.principal;
    },

    async withToken(token, cookie) {
      const begun = await db.transaction(async (tx) => {
        const holder = await personBehind(tx, token, clock.now());
        return sessions.begin(tx, signingIn(holder, secretIn(cookie)));
      });
      sessions.forgetAll();
      return signedIn(begun);
    },

    async codeFor(authorization) {
      const now = clock.now();
      const { tokenId } = await personBehind(db, tokenInHeader(authorization), now);
      const code = newSecret();
      const { hash } = fingerprintOfSecret(code);
      const expiresAt = new Date(now.getTime() + codeMs);
      await insertCode(db, { hash, tokenId, expiresAt });
      return { code, expiresAt };
    },

    async withCode(code, cookie) {
      const begun = await db.transaction(async (tx) => {
        const now = clock.now();
        const taken = await takeCode(tx, fingerprintOfSecret(code).hash);
        if (taken === undefined || taken.expiresAt <= now) return undefined;
        const holder = await personOfToken(tx, taken.tokenId, now);
        return holder && sessions.begin(tx, signingIn(holder, secretIn(cookie)));
      });
      if (begun === undefined) {
        throw new Fault(
          "unauthenticated",
          "that link was used before, or is older than five minutes; `grange sign-in` prints another",
        );
      }
      sessions.forgetAll();
      return signedIn(begun);
    },

    async begin(returnTo) {
      const attempt = newAttempt(clock.now(), returnTo);
      const { href } = await withProvider().addressFor(secretsOf(attempt), redirectUri);
      const options = { isSecure: names.isSecure, maxAgeMs: attemptLastsMs };
      return { url: href, cookie: setCookie(names.attempt, cookieOfAttempt(attempt), options) };
    },

    async finish(query, cookie) {
      const { begun, returnTo } = await finishAttempt(
        { db, clock, provider: withProvider(), sessions, callback: new URL(query, redirectUri) },
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

function readNote(note: string): string {
  return Buffer.from(note, "base64url").toString("utf8").slice(0, longestNote);
}
