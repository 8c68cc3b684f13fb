import { Verb } from "#core/verb.ts";
import { matchesPattern } from "./matches-pattern.ts";
import { anyone, type NewGrant, type Where } from "./principal.ts";

/** A grant as it was given, with its principal. */
interface GivenGrant extends NewGrant {
  readonly principal: string;
}

interface KnownRole {
  readonly name: string;
  readonly verbs: readonly (Verb | "*")[];
}

/** Returns the grants that give a verb: by itself, by `*`, or by a role. */
export function grantsGiving<Given extends NewGrant>(
  verb: Verb,
  grants: readonly Given[],
  roles: readonly KnownRole[],
): Given[] {
  const giving = new Set<string>([
    "*",
    verb,
    ...roles
      .filter(({ verbs }) => verbs.includes("*") || verbs.includes(verb))
      .map(({ name }) => `role:${name}`),
  ]);
  return grants.filter((grant) => giving.has(grant.verb));
}

/** Returns the verbs that a grant gives: the one that it names, all, or those of its role. */
export function verbsGivenBy({ verb }: NewGrant, roles: readonly KnownRole[]): Verb[] {
  const named =
    roles.find(({ name }) => verb === `role:${name}`)?.verbs ?? ([verb] as readonly string[]);
  return Verb.options.filter((each) => named.includes("*") || named.includes(each));
}

/** A grant with the verbs that it gives. */
type GivingGrant<Given> = Given & { readonly gives: readonly Verb[] };

/**
 * Returns the grants that apply at a place, with the verbs that they give there, by principal. Without a branch, grants
 * for any branch of the repository count. An empty repository is the whole farm.
 */
export function grantsAt<Given extends GivenGrant>(
  { repository, branch }: { readonly repository: string; readonly branch?: string | undefined },
  grants: readonly Given[],
  roles: readonly KnownRole[],
): ReadonlyMap<string, readonly GivingGrant<Given>[]> {
  const named = branch ?? (repository === "" ? "" : undefined);
  const found = new Map<string, GivingGrant<Given>[]>();
  for (const grant of grants) {
    if (!matchesPattern(grant.repository, repository)) continue;
    if (named !== undefined && !matchesPattern(grant.branch, named)) continue;
    const others = found.get(grant.principal) ?? [];
    found.set(grant.principal, [...others, { ...grant, gives: verbsGivenBy(grant, roles) }]);
  }
  return found;
}

/**
 * Returns the grants by which a principal may do something at a place, and its grants of that verb for other places.
 * Grants of `anyone` count, because the principal has them by sending no token.
 */
export function explainRight<Given extends GivenGrant>(
  principal: string,
  verb: Verb,
  { repository, branch }: Where,
  grants: readonly Given[],
  roles: readonly KnownRole[],
): { readonly allowed: Given[]; readonly elsewhere: Given[] } {
  const own = grants.filter((grant) => [principal, anyone].includes(grant.principal));
  const giving = grantsGiving(verb, own, roles);
  const isHere = (grant: Given) =>
    matchesPattern(grant.repository, repository) && matchesPattern(grant.branch, branch);
  return { allowed: giving.filter(isHere), elsewhere: giving.filter((grant) => !isHere(grant)) };
}
