import { anyone, PrincipalName } from "#access/principal.ts";
import { Fault } from "#core/fault.ts";

/** Which claims say who somebody is here. */
export interface ClaimNames {
  readonly principal: string;
  /** Undefined: groups give nobody anything. */
  readonly groups: string | undefined;
}

export interface ClaimedIdentity {
  readonly issuer: string;
  readonly subject: string;
  /** What the claim says; whose name that is is decided by who came first. */
  readonly name: string;
  /** Whether the provider has seen to it that nobody else can have the name. */
  readonly isVerified: boolean;
  /** Principals whose grants it has besides. */
  readonly groups: readonly string[];
}

/** So begin the principals that stand for a provider's groups; no person has such a name. */
const groupPrefix = "group-";
/** The farm itself as it acts for a forge, and people there: who is one of these, the forge says. */
const ofForges = /^forge$|@git(hub)?$/i;
const mostGroups = 200;
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
  };

  function groupsIn(): string[] {
    const said = names.groups === undefined ? undefined : claims[names.groups];
    if (!Array.isArray(said)) return [];
    return (
      said
        .slice(0, mostGroups)
        .filter((group) => typeof group === "string" && group !== "")
        .map((group) => groupPrefix + group)
        // One whose name is no principal's cannot have been given anything.
        .filter((group) => PrincipalName.safeParse(group).success)
    );
  }
}

function nameIn(claims: Readonly<Record<string, unknown>>, claim: string): string {
  const said = claims[claim];
  if (typeof said !== "string") {
    throw refusal(`the provider said nothing of your \`${claim}\`, which is your name here`);
  }
  if (claim === "email" && claims["email_verified"] !== true) {
    throw refusal("the provider did not verify your e-mail address, which is your name here");
  }
  const name = claim === "email" ? said.toLowerCase() : said;
  if (!PrincipalName.safeParse(name).success) {
    throw refusal(`your \`${claim}\` cannot be a name here: 1 to 64 letters, digits and . _ @ + -`);
  }
  if (name === anyone || name.startsWith(groupPrefix) || ofForges.test(name)) {
    throw refusal(`your \`${claim}\` is a name that no person has here`);
  }
  return name;
}

function refusal(why: string): Fault {
  return new Fault("permission_denied", `${why}; ask whoever runs this farm`);
}
