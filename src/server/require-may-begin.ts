import { anyone, type Principal } from "#access/principal.ts";
import { grantCommand, mayDo } from "#access/require-grant.ts";
import { Fault } from "#core/fault.ts";

/**
 * Throws `permission_denied` when the caller may not store the first blobs of a project: the number of projects is
 * limited, and each has a cost. A caller that may build in a project may create it.
 */
export function requireMayBegin(caller: Principal, project: string): void {
  const where = { repository: project, branch: "" };
  if (mayDo(caller, "execute", where) || mayDo(caller, "cache", where)) return;
  const who = caller.name === anyone ? "a caller without a token" : caller.name;
  throw new Fault(
    "permission_denied",
    `nobody has built in the project ${project} yet, and ${who} may not be the first: ask somebody who administers ` +
      `the farm for \`${grantCommand(caller.name, "execute", where)}\`, or look whether the instance name is the one you mean`,
  );
}
