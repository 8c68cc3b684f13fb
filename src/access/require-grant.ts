import { Fault } from "#core/fault.ts";
import { readableShellWord } from "#core/shell-word.ts";
import type { Verb } from "#core/verb.ts";
import { anyone, grantsFor, type Principal, type Where, wholeFarm } from "./principal.ts";

/** Returns whether one of the grants allows the verb. Grants only add rights; no grant removes one. */
export function mayDo(principal: Principal, verb: Verb, where: Where): boolean {
  return grantsFor(principal, [verb], where).length > 0;
}

/** Throws `permission_denied` with the missing grant when the principal does not have the right. */
export function requireGrant(principal: Principal, verb: Verb, where: Where): void {
  if (mayDo(principal, verb, where)) return;
  const command = grantCommand(whomToGrant(principal, verb), verb, where);
  throw refusal(principal, verb, placeOf(where), command);
}

/**
 * Like `requireGrant`, for a place that is not yet known: throws only when the principal has none of the verbs
 * anywhere.
 */
export function requireGrantSomewhere(
  principal: Principal,
  ...verbs: readonly [Verb, ...Verb[]]
): void {
  const sufficient: readonly string[] = ["*", ...verbs];
  if (principal.grants.some((grant) => sufficient.includes(grant.verb))) return;
  const [verb] = verbs;
  const narrowed = verb === "work" ? "--pool POOL" : "--repository REPOSITORY";
  const command = `${grantCommand(whomToGrant(principal, verb), verb, wholeFarm)} ${narrowed}`;
  throw refusal(principal, verb, "anywhere on this farm", command);
}

/** A command that gives one of these to `anyone`, copied unchanged, would open the farm or its sources to everybody. */
const neverForAnyone: ReadonlySet<Verb> = new Set<Verb>([
  "administer",
  "read",
  "read-logs",
  "read-sources",
  "read-audit",
]);

/** Returns the name for the command that would grant a verb to this caller. */
function whomToGrant({ name }: Principal, verb: Verb): string {
  return name === anyone && neverForAnyone.has(verb) ? "NAME" : name;
}

function refusal({ name }: Principal, verb: Verb, place: string, command: string): Fault {
  const who = name === anyone ? "a caller without a token" : name;
  // Workers do not take a person's token from their environment: their jobs might find it there.
  const from = verb === "work" ? "GRANGE_WORKER_TOKEN, or --enrol" : "GRANGE_TOKEN";
  const token = name === anyone ? `send one (${from}), or ` : "";
  return new Fault(
    "permission_denied",
    `${who} may not ${verb} ${place}: ${token}ask an administrator of the farm to run \`${command}\``,
  );
}

function placeOf({ repository, branch, pool }: Where): string {
  if (pool !== undefined) return `in the pool ${pool}`;
  if (repository === "") return "on this farm";
  // Requests of build tools belong to a project and not to a branch.
  if (branch === "") return `in ${repository}`;
  return `on ${branch} of ${repository}`;
}

/** Returns the command that grants exactly the missing right. */
export function grantCommand(
  name: string,
  verb: Verb,
  { repository, branch, pool }: Where,
): string {
  const narrowed = [
    ...(pool === undefined ? [] : [`--pool ${readableShellWord(pool)}`]),
    ...(repository === "" ? [] : [`--repository ${readableShellWord(repository)}`]),
    ...(branch === "" ? [] : [`--branch ${readableShellWord(branch)}`]),
  ];
  return ["grange grant add", name, verb, ...narrowed].join(" ");
}
