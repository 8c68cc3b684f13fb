import { Hono } from "hono";
import type { IdentityKeys } from "#access/identity/identity-keys.ts";
import {
  identityClaims,
  identityTokenSeconds,
  signIdentity,
} from "#access/identity/identity-token.ts";
import type { LeasedRun } from "#access/job-tokens/run-of-token.ts";
import type { Clock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";

/** The farm as an issuer of OpenID Connect tokens for its runs. */
export interface IdentityIssuer {
  /** The address by which verifiers reach the farm, without a slash at its end. */
  readonly issuer: string;
  readonly identityKeys: IdentityKeys;
  readonly clock: Clock;
  readonly runOf: (authorization: string | undefined) => Promise<LeasedRun | undefined>;
}

const keysPath = "/.well-known/jwks.json";
/** How long verifiers may keep the keys, in seconds. */
const keysMaxAge = 300;

/**
 * Identity tokens of runs, outside of the API, where verifiers expect them:
 *
 * - `GET /.well-known/openid-configuration` and `GET /.well-known/jwks.json`: for everybody, because clouds and
 *   registries send no token. They contain public keys only.
 * - `GET /identity/token?audience=NAME`: for a run, with its own token.
 */
export function identityRoutes({ issuer, identityKeys, clock, runOf }: IdentityIssuer): Hono {
  const routes = new Hono();

  routes.get("/.well-known/openid-configuration", (c) => {
    c.header("cache-control", `public, max-age=${keysMaxAge}`);
    return c.json({
      issuer,
      jwks_uri: `${issuer}${keysPath}`,
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
      claims_supported: claims,
      scopes_supported: ["openid"],
    });
  });

  routes.get(keysPath, async (c) => {
    c.header("cache-control", `public, max-age=${keysMaxAge}`);
    return c.json(await identityKeys.published());
  });

  routes.get("/identity/token", async (c) => {
    c.header("cache-control", "no-store");
    const run = await runOf(c.req.header("authorization"));
    if (run === undefined) {
      throw new Fault(
        "unauthenticated",
        "only a running job gets an identity: send its $GRANGE_JOB_TOKEN as `Authorization: Bearer`",
      );
    }
    const audience = c.req.query("audience") ?? run.rights.identity?.audiences[0] ?? "";
    const named = identityClaims(run, { issuer, audience, now: clock.now() });
    const value = signIdentity(await identityKeys.signing(), named);
    return c.json({ value, audience, expiresInSeconds: identityTokenSeconds });
  });

  return routes;
}

const claims = [
  "iss",
  "sub",
  "aud",
  "iat",
  "nbf",
  "exp",
  "jti",
  "repository",
  "ref",
  "ref_type",
  "sha",
  "run_id",
  "run_attempt",
  "graph",
  "job",
  "actor",
];
