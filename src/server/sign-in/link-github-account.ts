import type { Clock } from "#core/clock.ts";
import { linkAccountOfProvider } from "#forge/readers/provider-links.ts";
import type { WhenSignedIn } from "#sign-in/provider/finish-attempt.ts";

/** Links a person with the account at GitHub that the identity provider names. */
export function linkGitHubAccount(clock: Clock, linked: () => void): WhenSignedIn {
  return async (tx, principal, { issuer, githubLogin }) => {
    const link = { principal, kind: "github", issuer, account: githubLogin };
    await linkAccountOfProvider(tx, link, clock.now());
    linked();
  };
}
