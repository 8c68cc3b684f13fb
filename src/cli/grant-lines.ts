import type {
  CheckedRight,
  GivingGrant,
  GrantRule,
  PrincipalRights,
  RightsAtPlace,
} from "#api/access.ts";
import { limitWords, narrowingWords } from "#api/grant-limits.ts";
import { Verb } from "#core/verb.ts";
import { printableLine } from "./terminal/printable-text.ts";
import { tableLines } from "./terminal/table.ts";
import { timeText } from "./terminal/time-text.ts";

/** Returns whether somebody has a right, and by which grants. */
export function checkLines(checked: CheckedRight): string[] {
  const { principal, verb, repository, branch, allowed, grants, elsewhere, missing } = checked;
  const of = repository === "" ? "on the whole farm" : `in ${repository}`;
  const where =
    branch === "" ? of : `on ${branch} of ${repository === "" ? "any repository" : repository}`;
  if (allowed)
    return [`Yes: ${principal} may ${verb} ${where}, by:`, "", ...ruleLines(grants)].map(
      printableLine,
    );
  const others =
    elsewhere.length === 0 ? [] : ["", "Its grants for other places:", "", ...ruleLines(elsewhere)];
  return [`No: ${principal} may not ${verb} ${where}. ${missing} would allow it.`, ...others].map(
    printableLine,
  );
}

/** Returns what a principal may do, by which grants, and its tokens. */
export function rightsLines({
  name,
  kind,
  quarantine,
  tokens,
  grants,
  verbs,
}: PrincipalRights): string[] {
  const inQuarantine =
    quarantine === null ? [] : [`It is quarantined, and no worker may use it: ${quarantine}`];
  const ends = (tokens ?? []).map(
    ({ id, use, expiresAt }) =>
      `  ${id} (${use === "calls" ? "token" : "enrolment"}), valid until ${expiresAt === null ? "it is revoked" : timeText(expiresAt)}`,
  );
  return [
    kind === null ? `There is no principal ${name}.` : `${name} is a ${kind}.`,
    ...inQuarantine,
    verbs.length === 0 ? "It has no rights." : `It may: ${verbs.join(", ")}.`,
    ...(grants.length === 0 ? [] : ["", ...givingLines(grants)]),
    ...(tokens === null ? [] : ["", ends.length === 0 ? "It has no valid token." : "Tokens:"]),
    ...ends,
  ].map(printableLine);
}

/** Returns who may do what at a place. */
export function whoLines({ repository, branch, principals }: RightsAtPlace): string[] {
  const of = repository === "" ? "the whole farm" : repository;
  const where = branch === null || branch === "" ? of : `${branch} of ${of}`;
  if (principals.length === 0)
    return [printableLine(`No principal that you may see has such a right on ${where}.`)];
  return givingLines(principals.flatMap(({ grants }) => grants));
}

/** Returns a table of grants with the verbs that they give. */
function givingLines(grants: readonly GivingGrant[]): string[] {
  return tableLines([
    ["principal", "may", "by the grant", "repository", "branch", "limits"],
    ...grants.map((grant) => [
      grant.principal,
      grant.gives.length === Verb.options.length ? "everything" : grant.gives.join(", "),
      grant.verb,
      printableLine(grant.repository),
      printableLine(grant.branch),
      inOneCell(limitWords(grant)),
    ]),
  ]);
}

function inOneCell(limits: readonly string[]): string {
  return printableLine(limits.join(", ")) || "-";
}

/** Returns a table of grants as they were given. */
export function ruleLines(rules: readonly GrantRule[]): string[] {
  return tableLines([
    ["principal", "verb", "repository", "branch", "priority cap", "top", "limits", "by"],
    ...rules.map((rule) => [
      rule.principal,
      rule.verb,
      printableLine(rule.repository),
      printableLine(rule.branch),
      rule.priorityCap === null ? "-" : String(rule.priorityCap),
      rule.top ? "yes" : "-",
      inOneCell(narrowingWords(rule)),
      rule.createdBy,
    ]),
  ]);
}
