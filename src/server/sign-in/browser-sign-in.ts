import { accessSettingOf } from "#access/access-setting.ts";
import { type Principal, wholeFarm } from "#access/principal.ts";
import { mayDo } from "#access/require-grant.ts";
import type { SessionStanding, SignInLink } from "#api/session.ts";
import { Fault } from "#core/fault.ts";
import type { RequestOrigin } from "#sign-in/sessions/forged-request.ts";
import type { FoundSession } from "#sign-in/sessions/session-service.ts";
import { type SignedIn, signInService } from "#sign-in/sign-in-service.ts";
import type { Services } from "../services.ts";
import { linkGitHubAccount } from "./link-github-account.ts";

/** Signs browsers in and out, and identifies them. Cookies are passed as whole headers. */
export interface BrowserSignIn {
  /** The configured name under which people reach the farm, with the port if it is not the default. */
  readonly publicHost: string | undefined;
  /** Returns the principal of a browser by its cookie; undefined without one. */
  identifySession(
    cookie: string | undefined,
    request: RequestOrigin,
  ): Promise<Principal | undefined>;
  /** Includes the cookies that must be deleted. */
  session(
    cookie: string | undefined,
  ): Promise<{ readonly standing: SessionStanding; readonly cookies: readonly string[] }>;
  /** Returns a cookie that shows on the next page why a sign-in failed. */
  noteProblem(message: string): string;
  signInWithToken(token: string, cookie: string | undefined): Promise<SignedIn>;
  signInWithCode(code: string, cookie: string | undefined): Promise<SignedIn>;
  /** For the holder of the token in an `Authorization` header. */
  signInLink(authorization: string | undefined): Promise<SignInLink>;
  /** Returns the address to which the browser is sent, and the state that the browser stores meanwhile. */
  beginSignIn(
    returnTo: string | undefined,
  ): Promise<{ readonly url: string; readonly cookie: string }>;
  /** `query` is the query string of the callback. */
  finishSignIn(
    query: string,
    cookie: string | undefined,
  ): Promise<SignedIn & { readonly returnTo: string }>;
  /** Returns the cookies that must be deleted. */
  signOut(cookie: string | undefined): Promise<readonly string[]>;
}

/** `url` is where the server listens. */
export function browserSignIn(
  {
    db,
    clock,
    logger,
    callers,
    signIn,
    forgeReaders,
  }: Pick<Services, "db" | "clock" | "logger" | "callers" | "signIn" | "forgeReaders">,
  url: string,
): BrowserSignIn {
  const { sessions, provider, publicUrl } = signIn;
  const address = { url: publicUrl ?? new URL(url), isConfigured: publicUrl !== undefined };
  const service = signInService({
    db,
    clock,
    sessions,
    provider,
    address,
    signedIn: linkGitHubAccount(clock, () => forgeReaders.forgetAll()),
  });

  /** Logs that a sign-in was refused and why, but never the secret. */
  const noting = async <T>(what: string, work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (reason) {
      if (reason instanceof Fault) logger.info({ why: reason.message, what }, "refused");
      throw reason;
    }
  };

  return {
    publicHost: publicUrl?.host,
    identifySession: (cookie, request) => noting("a session", service.identify(cookie, request)),
    async session(cookie) {
      const { found, csrf, problem } = await service.standing(cookie);
      const stranger = await callers.identify(undefined);
      const standing = {
        ...standingOf(found),
        problem: problem?.message ?? null,
        csrf: csrf ?? null,
        provider: service.provider ?? null,
        isOpen: mayDo(stranger, "administer", wholeFarm),
        access: accessSettingOf(stranger.grants),
      };
      return { standing, cookies: problem === undefined ? [] : [problem.cookie] };
    },
    noteProblem: (message) => service.noteProblem(message),
    signInWithToken: (token, cookie) => noting("a token", service.withToken(token, cookie)),
    signInWithCode: (code, cookie) => noting("a link", service.withCode(code, cookie)),
    async signInLink(authorization) {
      if (authorization === undefined) {
        throw new Fault(
          "unauthenticated",
          "send the token of the principal that the link signs in, as `Authorization: Bearer`",
        );
      }
      const { code, expiresAt } = await service.codeFor(authorization);
      // A fragment is never sent to a server, and so appears in no log.
      const link = new URL("/sign-in", address.url);
      link.hash = `code=${code}`;
      return { url: link.href, expiresAt: expiresAt.toISOString() };
    },
    beginSignIn: (returnTo) => service.begin(returnTo),
    finishSignIn: (query, cookie) => noting("a sign-in", service.finish(query, cookie)),
    signOut: (cookie) => service.signOut(cookie),
  };
}

function standingOf(found: FoundSession): Pick<SessionStanding, "session" | "over"> {
  if (found.kind === "unknown") return { session: null, over: null };
  if (found.kind === "over") {
    return { session: null, over: { principal: found.principal, why: found.why } };
  }
  const { id, principal, voucher, since, endsAt } = found;
  return {
    session: {
      id,
      principal: principal.name,
      by: voucher.kind === "token" ? { kind: "token", id: voucher.tokenId } : voucher,
      since: since.toISOString(),
      endsAt: endsAt.toISOString(),
    },
    over: null,
  };
}
