import { addressCases } from "./auth-addresses.ts";
import { browserCases } from "./auth-browsers.ts";
import { callbackCases } from "./auth-callbacks.ts";
import { signedTokenCases } from "./auth-signed-tokens.ts";
import { type AuthTarget, openAuthTarget } from "./auth-target.ts";
import type { HostileSuite } from "./case.ts";

/** Signed tokens, sessions of browsers, responses of identity providers, tokens in URLs. */
export const authSuite: HostileSuite<AuthTarget> = {
  interface: "Auth",
  atLeast: 25,
  cases: [...signedTokenCases, ...browserCases, ...callbackCases, ...addressCases],
  open: openAuthTarget,
};
