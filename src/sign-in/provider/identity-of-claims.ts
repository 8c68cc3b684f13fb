import { anyone, PrincipalName } from "#access/principal.ts";
import { Fault } from "#core/fault.ts";

/** The names of the claims that identify a user. */
export interface ClaimNames {
  readonly principal: string;
  /** Undefined: groups grant no rights. */
  readonly groups: string | undefined;
  /** The claim with the user's login at GitHub, which the provider vouches for; undefined: no claim links accounts. */
  readonly githubLogin?: string | undefined;
}

export interface ClaimedIdentity {
  readonly issuer: string;
  readonly subject: string;
  /** The name in the claim; it belongs to the first subject that used it. */
  readonly name: string;
  /** Whether the provider guarantees that the name is unique. */
  readonly isVerified: boolean;
  /** Principals whose grants the user has in addition. */
  readonly groups: readonly string[];
  /** The user's login at GitHub; absent when the provider did not name one. */
  readonly githubLogin?: string;
}

/** The prefix of principals that represent groups of a provider; no person may have such a name. */
const groupPrefix = "group-";
/** Names of the farm's own principal for a forge, and names of forge users, which only the forge can identify. */
const ofForges = /^forge$|@git(hub)?$/i;
const mostGroups = 200;
const githubLogin = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})(?:_[A-Za-z0-9]+)?$/;
const longestSubject = 255;

/** Reads an identity out of claims whose origin has been checked. */
export function identityOf(
  claims: Readonly<Record<string, unknown>>,
  names: ClaimNames,
): ClaimedIdentity {
  const { iss, sub } = claims;
  if (typeof iss !== "string" || typeof sub !== "string" || sub.length > longestSubject) {
    throw refusal("the provider did not say who you are (`iss`, `sub`)");
  }
  return {
    issuer: iss,
    subject: sub,
    name: nameIn(claims, names.principal),
    isVerified: names.principal === "email",
    groups: groupsIn(),
    ...githubLoginIn(claims, names.githubLogin),
  };

  function groupsIn(): string[] {
    const claimed = names.groups === undefined ? undefined : claims[names.groups];
    if (!Array.isArray(claimed)) return [];
    return (
      claimed
        .slice(0, mostGroups)
        .filter((group) => typeof group === "string" && group !== "")
        .map((group) => groupPrefix + group)
        // A group whose name is not a valid principal cannot have grants.
        .filter((group) => PrincipalName.safeParse(group).success)
    );
  }
}

/** What cannot be a login is like no login: it gives nothing. */
function githubLoginIn(
  claims: Readonly<Record<string, unknown>>,
  claim: string | undefined,
): Pick<ClaimedIdentity, "githubLogin"> {
  const login = claim === undefined ? undefined : claims[claim];
  return typeof login === "string" && githubLogin.test(login) ? { githubLogin: login } : {};
}

function nameIn(claims: Readonly<Record<string, unknown>>, claim: string): string {
  const claimed = claims[claim];
  if (typeof claimed !== "string") {
    throw refusal(`the provider said nothing of your \`${claim}\`, which is your name here`);
  }
  if (claim === "email" && claims["email_verified"] !== true) {
    throw refusal("the provider did not verify your e-mail address, which is your name here");
  }
  const name = claim === "email" ? claimed.toLowerCase() : claimed;
  if (!PrincipalName.safeParse(name).success) {
    throw refusal(`your \`${claim}\` cannot be a name here: 1 to 64 letters, digits and . _ @ + -`);
  }
  if (name === anyone || name.startsWith(groupPrefix) || ofForges.test(name)) {
    throw refusal(`your \`${claim}\` is a name that no person has here`);
  }
  return name;
}

function refusal(why: string): Fault {
  return new Fault("permission_denied", `${why}; ask the operator of this farm`);
}
