import type { Principal } from "#access/principal.ts";
import type {
  AddIdentity,
  AddIssuer,
  ListedIdentity,
  ListedIssuer,
  ListedSession,
  SessionStanding,
  SignInLink,
} from "#api/session.ts";
import type { RequestOrigin } from "#sign-in/sessions/forged-request.ts";
import type { SignedIn } from "#sign-in/sign-in-service.ts";

/** Browsers that sign in and out, and whose word is taken for who somebody is. Cookies are whole headers. */
export interface SignInFarm {
  /** The name, and the port where it is not the usual one, by which people reach the farm when somebody said so. */
  readonly publicHost: string | undefined;
  /** Who a browser is by its cookie; undefined when nobody in particular. */
  identifySession(
    cookie: string | undefined,
    request: RequestOrigin,
  ): Promise<Principal | undefined>;
  /** With the cookies that are to go. */
  session(
    cookie: string | undefined,
  ): Promise<{ readonly standing: SessionStanding; readonly cookies: readonly string[] }>;
  /** A cookie that tells the next page why a sign-in came to nothing. */
  noteProblem(message: string): string;
  signInWithToken(token: string, cookie: string | undefined): Promise<SignedIn>;
  signInWithCode(code: string, cookie: string | undefined): Promise<SignedIn>;
  /** For the holder of the token in an `Authorization` header. */
  signInLink(authorization: string | undefined): Promise<SignInLink>;
  /** Where to send the browser, and what it must keep meanwhile. */
  beginSignIn(
    returnTo: string | undefined,
  ): Promise<{ readonly url: string; readonly cookie: string }>;
  /** `query` is what stands behind the callback's path. */
  finishSignIn(
    query: string,
    cookie: string | undefined,
  ): Promise<SignedIn & { readonly returnTo: string }>;
  /** Answers the cookies that are to go. */
  signOut(cookie: string | undefined): Promise<readonly string[]>;
  /** All of them for who administers, else one's own. */
  sessions(by: Principal): Promise<ListedSession[]>;
  endSession(id: string, by: Principal): Promise<ListedSession>;
  identities(by: Principal): Promise<ListedIdentity[]>;
  addIdentity(request: AddIdentity, by: Principal): Promise<ListedIdentity[]>;
  removeIdentity(principal: string, by: Principal): Promise<ListedIdentity[]>;
  issuers(by: Principal): Promise<ListedIssuer[]>;
  addIssuer(request: AddIssuer, by: Principal): Promise<ListedIssuer[]>;
  removeIssuer(name: string, by: Principal): Promise<ListedIssuer[]>;
}
