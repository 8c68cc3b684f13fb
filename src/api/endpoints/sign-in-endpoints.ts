import { noRight } from "#core/right.ts";
import { created, endpoint, json } from "../endpoint.ts";
import {
  BeginSignIn,
  SessionStanding,
  SignedIn,
  SignInAddress,
  SignInLink,
  SignInWithCode,
  SignInWithToken,
} from "../session.ts";

const right = noRight("signs a browser in");

/**
 * Signing in. A table of its own: the server serves it before it identifies the caller, because identification refuses
 * a browser whose session is over or whose page has no CSRF token yet.
 */
export const signInEndpoints = {
  session: endpoint({
    method: "GET",
    path: "/session",
    right,
    summary:
      "The user of the browser, the value for `X-Grange-Csrf`, and the possible ways to sign in.",
    answer: json(SessionStanding),
  }),
  signInWithToken: endpoint({
    method: "POST",
    path: "/session/token",
    right,
    summary:
      "Signs the browser in as the holder of a token, with a cookie. The session that the browser had ends.",
    body: SignInWithToken,
    limit: "sign-in",
    answer: created(SignedIn),
  }),
  signInWithCode: endpoint({
    method: "POST",
    path: "/session/code",
    right,
    summary: "The same, with the code of a sign-in link.",
    body: SignInWithCode,
    limit: "sign-in",
    answer: created(SignedIn),
  }),
  signInLink: endpoint({
    method: "POST",
    path: "/session/links",
    right,
    summary:
      "Creates an address that signs one browser in as the principal of the token in `Authorization`.",
    limit: "sign-in",
    answer: created(SignInLink),
  }),
  beginSignIn: endpoint({
    method: "POST",
    path: "/session/provider",
    right,
    summary:
      "The address at which the browser signs in at the identity provider, which then redirects to `/auth/callback`.",
    body: BeginSignIn,
    limit: "sign-in",
    answer: json(SignInAddress),
  }),
} as const;
