import { type Grant, type Principal, PrincipalName } from "#access/principal.ts";
import type { Verb } from "#core/verb.ts";
import type { ForgePermission } from "./forge.ts";
import type { ForgePolicy, NeededPermission } from "./forge-policy.ts";

/** The principal for everything that a push alone causes. */
export const forgePrincipalName = "forge";

/**
 * Returns the name of the principal for a user of a forge: `octocat@github`. `account` is from `accountOf`. Undefined
 * for a name that a principal cannot have, so nobody can act under it.
 */
export function principalNameOf(forge: string, account: string): string | undefined {
  const name = `${account}@${forge}`;
  return PrincipalName.safeParse(name).success ? name : undefined;
}

/**
 * Returns the farm's own principal for one repository. It may not raise priorities, and has no rights for other
 * repositories.
 */
export function forgePrincipal(repository: string): Principal {
  const here = (verb: Verb): Grant => ({
    verb,
    repository,
    branch: "*",
    priorityCap: 0,
    top: false,
  });
  return {
    name: forgePrincipalName,
    grants: [here("submit"), here("cancel"), here("retrigger"), wide("benchmark")],
  };
}

/** The right that each comment command needs. */
const verbsOf: Readonly<Record<keyof ForgePolicy["commands"], readonly Verb[]>> = {
  bench: ["benchmark"],
  build: ["benchmark"],
  retrigger: ["retrigger"],
  cancel: ["cancel"],
  approve: [],
};

/** Returns a user of a forge, with the rights from the farm's grants and from the policy for the forge's permission. */
export function personAtForge(
  name: string,
  repository: string,
  permission: ForgePermission,
  { commands }: Pick<ForgePolicy, "commands">,
  stored: readonly Grant[],
): Principal {
  const verbs = (Object.keys(verbsOf) as (keyof typeof verbsOf)[])
    .filter((command) => suffices(permission, commands[command]))
    .flatMap((command) => verbsOf[command]);
  const given = [...new Set(verbs)].map(
    (verb): Grant =>
      verb === "benchmark"
        ? wide(verb)
        : { verb, repository, branch: "*", priorityCap: 0, top: false },
  );
  return { name, grants: [...stored, ...given] };
}

const order: readonly ForgePermission[] = ["none", "read", "triage", "write", "maintain", "admin"];

export function suffices(has: ForgePermission, needs: NeededPermission): boolean {
  return needs !== "nobody" && order.indexOf(has) >= order.indexOf(needs);
}

/** Requests to measure belong to no repository. */
function wide(verb: Verb): Grant {
  return { verb, repository: "*", branch: "*", priorityCap: 0, top: false };
}
