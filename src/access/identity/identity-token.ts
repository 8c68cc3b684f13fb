import { type KeyObject, randomUUID, sign } from "node:crypto";
import { Fault } from "#core/fault.ts";
import type { JobIdentity } from "#core/job-rights.ts";
import type { LeasedRun } from "../job-tokens/run-of-token.ts";

/** Long enough to sign in with it once; the session that a cloud gives in return has its own end. */
export const identityTokenSeconds = 600;

/** The claims of an identity token, named as those of known CI systems. */
interface IdentityClaims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: string;
  readonly iat: number;
  readonly nbf: number;
  readonly exp: number;
  readonly jti: string;
  readonly repository: string;
  readonly ref: string;
  readonly ref_type: "branch" | "commit";
  readonly sha: string;
  readonly run_id: string;
  readonly run_attempt: string;
  readonly graph: string;
  readonly job: string;
  readonly actor: string;
}

/**
 * Returns the claims of a token for one audience; throws `permission_denied` for an audience that the job's definition
 * does not name.
 */
export function identityClaims(
  run: LeasedRun,
  {
    issuer,
    audience,
    now,
  }: { readonly issuer: string; readonly audience: string; readonly now: Date },
): IdentityClaims {
  const { identity } = run.rights;
  if (!identity?.audiences.includes(audience)) throw notNamed(identity, audience);
  const { repository, ref, sha, graph, job, submittedBy } = identity;
  const issuedAt = Math.floor(now.getTime() / 1_000);
  return {
    iss: issuer,
    sub: subjectOf(identity),
    aud: audience,
    iat: issuedAt,
    // Clocks of verifiers differ by some seconds.
    nbf: issuedAt - 30,
    exp: issuedAt + identityTokenSeconds,
    jti: randomUUID(),
    repository,
    ref,
    ref_type: ref === "" ? "commit" : "branch",
    sha,
    run_id: run.executionId,
    run_attempt: String(run.attempt),
    graph,
    job,
    actor: submittedBy,
  };
}

/** `repo:NAME:ref:refs/heads/main`, as GitHub's tokens have it: rules of clouds compare this one claim. */
function subjectOf({ repository, ref, sha }: JobIdentity): string {
  return ref === "" ? `repo:${repository}:commit:${sha}` : `repo:${repository}:ref:${ref}`;
}

function notNamed(identity: JobIdentity | undefined, audience: string): Fault {
  const named = JSON.stringify(audience.slice(0, 256));
  return new Fault(
    "permission_denied",
    identity === undefined
      ? 'this job has no identity: name the audience in its definition ("identity")'
      : `the job's definition names ${identity.audiences.join(", ")} under "identity", and not ${named}`,
  );
}

/** Returns a JSON Web Token (RFC 7519) in the compact form, signed with RS256. */
export function signIdentity(
  { id, privateKey }: { readonly id: string; readonly privateKey: KeyObject },
  claims: IdentityClaims,
): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg: "RS256", typ: "JWT", kid: id })}.${part(claims)}`;
  return `${signed}.${sign("sha256", Buffer.from(signed), privateKey).toString("base64url")}`;
}
