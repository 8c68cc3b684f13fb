import { z } from "zod";
import { RoleVerb } from "#core/role.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import { Verb } from "#core/verb.ts";
import { matchesPattern } from "./matches-pattern.ts";

/**
 * The range of priorities of graphs; jobs with a higher priority start first. The same range as for a job's own
 * priority in its definition.
 */
export const lowestPriority = -1_000;
export const highestPriority = 1_000;

/** The name of a person, a worker or a program. Tokens and grants belong to a name. */
export const PrincipalName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/,
    "a principal's name has 1 to 64 letters, digits and . _ @ + -, and begins with a letter or a digit",
  );

/** The kinds of principals. */
export const PrincipalKind = z.enum(["person", "worker", "collector", "granary", "ci", "forge"]);
export type PrincipalKind = z.infer<typeof PrincipalKind>;

/** The kinds that enrol with a one-time token, and for which a certificate may speak. */
export const MachineKind = PrincipalKind.extract(["worker", "collector", "granary"]);
export type MachineKind = z.infer<typeof MachineKind>;

/** A pattern for repositories, branches and the like: `*` stands for any characters, or for none. */
const GrantPattern = z.string().max(256, "a pattern has at most 256 characters");

/** One right: a verb, where it applies, and its limits. */
export const Grant = z.object({
  verb: z.union([Verb, z.literal("*")]),
  repository: GrantPattern,
  branch: GrantPattern,
  /** The highest priority that the grant allows; null for no cap. */
  priorityCap: z.number().int().min(lowestPriority).max(highestPriority).nullable(),
  /** Whether the grant allows the top class, which nothing overtakes. */
  top: z.boolean(),
  /** For workers, the pools that they may serve; for jobs, the pools that they may require. Any pool when absent. */
  pool: GrantPattern.optional(),
  /** The labels that jobs may require of a worker, as NAME=VALUE. Any label when absent. */
  label: GrantPattern.optional(),
  /** The greatest size class that jobs may request; any when absent. */
  sizeClassCap: z.number().int().min(1).max(1e6).optional(),
  /** The expected worker minutes that one graph may need; no limit when absent. */
  costCap: z.number().min(0).optional(),
});
export type Grant = Readonly<z.infer<typeof Grant>>;

/** A grant as it is given: of a verb, or of all verbs of a role. */
export const NewGrant = Grant.extend({ verb: z.union([Grant.shape.verb, RoleVerb]) });
export type NewGrant = Readonly<z.infer<typeof NewGrant>>;

/** A caller with its grants. */
export interface Principal {
  readonly name: string;
  readonly grants: readonly Grant[];
  /** Absent for callers without a name in the database: `anyone`, and users that only an identity provider knows. */
  readonly kind?: PrincipalKind;
  /** The trust domain of a run, for the run's own token; it overrides the domain that follows from the grants. */
  readonly domain?: TrustDomain;
  /** Why the farm accepts nothing more from it as a worker; usually absent. */
  readonly quarantine?: string;
}

/** The branch of a repository that an action concerns. The branch is empty for a commit that is on no branch. */
export interface Where {
  readonly repository: string;
  readonly branch: string;
  /** The pool of the worker, for the verb `work`. */
  readonly pool?: string;
}

/** The place of everything that belongs to no repository. Only grants for all repositories and branches apply to it. */
export const wholeFarm: Where = { repository: "", branch: "" };

/** The name for all callers without a token. */
export const anyone = "anyone";

/** The caller on a farm without access rules. */
export const everybody: Principal = {
  name: anyone,
  grants: [{ verb: "*", repository: "*", branch: "*", priorityCap: null, top: true }],
};

/** Returns the grants of a principal that apply to a verb at a place. */
export function grantsFor(
  { grants }: Principal,
  verbs: readonly Verb[],
  { repository, branch, pool }: Where,
): Grant[] {
  return grants.filter(
    (grant) =>
      (grant.verb === "*" || verbs.includes(grant.verb)) &&
      matchesPattern(grant.repository, repository) &&
      matchesPattern(grant.branch, branch) &&
      (pool === undefined || matchesPattern(grant.pool ?? "*", pool)),
  );
}
