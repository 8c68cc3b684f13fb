import { z } from "zod";
import { whyNoIssuer } from "#sign-in/issuers/issuer-address.ts";

/** The settings of an identity provider. */
export const oidcConfig = z.strictObject({
  issuer: z.string().superRefine((address, context) => {
    const why = whyNoIssuer(address);
    if (why !== undefined) context.addIssue(`an identity provider's address: ${why}`);
  }),
  clientId: z.string({ error: "name the client, too (GRANGE_OIDC_CLIENT_ID)" }).min(1),
  /** Without a secret the client is public, and only PKCE protects the code. */
  clientSecretFile: z.string().min(1).optional(),
  /** The text on the button; the provider's host when absent. */
  name: z.string().min(1).max(60).optional(),
  /** The claim with the principal's name. A name that users choose themselves is not suitable. */
  principalClaim: z.string().min(1).default("email"),
  /** The claim with the groups: members of `devs` have the grants of the principal `group-devs`. */
  groupsClaim: z.string().min(1).optional(),
  /** The claim with the login at GitHub: only one that the provider itself took from GitHub is suitable. */
  githubClaim: z.string().min(1).optional(),
  scope: z
    .string()
    .regex(/(^| )openid( |$)/, "it must have `openid`")
    .default("openid email profile"),
});

/** Undefined when no provider is configured. */
export function readOidcConfig(
  env: NodeJS.ProcessEnv = process.env,
): Readonly<Record<string, string | undefined>> | undefined {
  const given = {
    issuer: env["GRANGE_OIDC_ISSUER"] || undefined,
    clientId: env["GRANGE_OIDC_CLIENT_ID"] || undefined,
    clientSecretFile: env["GRANGE_OIDC_CLIENT_SECRET_FILE"] || undefined,
    name: env["GRANGE_OIDC_NAME"] || undefined,
    principalClaim: env["GRANGE_OIDC_PRINCIPAL_CLAIM"] || undefined,
    groupsClaim: env["GRANGE_OIDC_GROUPS_CLAIM"] || undefined,
    githubClaim: env["GRANGE_OIDC_GITHUB_CLAIM"] || undefined,
    scope: env["GRANGE_OIDC_SCOPE"] || undefined,
  };
  return Object.values(given).every((value) => value === undefined) ? undefined : given;
}
