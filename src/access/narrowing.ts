import { Fault } from "#core/fault.ts";
import { Verb } from "#core/verb.ts";
import { type Grant, grantsFor, type NewGrant, wholeFarm } from "./principal.ts";

/** Verbs that decide what jobs may require of workers. */
const shapingJobs: readonly (Verb | "*")[] = [
  "submit",
  "clone",
  "customise",
  "execute",
  "retrigger",
  "activate",
];
/** Verbs that make many jobs run at once. */
const makingGraphs: readonly (Verb | "*")[] = ["submit", "clone", "retrigger", "activate"];

/** The restrictions, besides repository, branch and priority, with the verbs that they apply to. */
const narrows: readonly [keyof Grant, string, readonly (Verb | "*")[]][] = [
  ["pool", "--pool", ["work", ...shapingJobs]],
  ["label", "--label", shapingJobs],
  ["sizeClassCap", "--size-class-cap", shapingJobs],
  ["costCap", "--cost-cap", makingGraphs],
];

/** Verbs that are checked for the whole farm only, because their changes belong to no repository. */
const ofWholeFarm: readonly (Verb | "*")[] = [
  "administer",
  "read-audit",
  "sign",
  "benchmark",
  "forge",
];

/**
 * Refuses a restriction that no check reads: with `administer --pool a`, the caller would believe that the grant is
 * restricted.
 */
export function requireNarrowingThatCounts(grant: NewGrant): void {
  for (const [field, option, verbs] of narrows) {
    if (grant[field] === undefined || isOneOf(verbs, grant.verb)) continue;
    throw new Fault(
      "invalid_argument",
      `${option} limits only ${verbs.join(", ")}, and not ${grant.verb === "*" ? "'*'" : grant.verb}`,
    );
  }
  const { verb } = grant;
  if (verb === "*" || !isVerb(verb) || !ofWholeFarm.includes(verb)) return;
  if (grantsFor({ name: "", grants: [{ ...grant, verb }] }, [verb], wholeFarm).length > 0) return;
  throw new Fault(
    "invalid_argument",
    `${verb} is a right on the whole farm; omit --repository and --branch`,
  );
}

function isOneOf(verbs: readonly string[], verb: string): boolean {
  return verbs.includes(verb);
}

function isVerb(text: string): text is Verb {
  return isOneOf(Verb.options, text);
}
