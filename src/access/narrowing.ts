import { Fault } from "#core/fault.ts";
import type { Verb } from "#core/verb.ts";
import type { Grant } from "./principal.ts";

/** Verbs that say what jobs ask of workers. */
const shapingJobs: readonly (Verb | "*")[] = [
  "submit",
  "clone",
  "customise",
  "execute",
  "retrigger",
  "activate",
];
/** Those that make many jobs run at once. */
const makingGraphs: readonly (Verb | "*")[] = ["submit", "clone", "retrigger", "activate"];

/** What may narrow which verbs, besides repository, branch and priority. */
const narrows: readonly [keyof Grant, string, readonly (Verb | "*")[]][] = [
  ["pool", "--pool", ["work", ...shapingJobs]],
  ["label", "--label", shapingJobs],
  ["sizeClassCap", "--size-class-cap", shapingJobs],
  ["costCap", "--cost-cap", makingGraphs],
];

/** Refuses a limit that nobody would look at: who gives `administer --pool a` believes that it is less than all. */
export function requireNarrowingThatCounts(grant: Grant): void {
  for (const [field, option, verbs] of narrows) {
    if (grant[field] === undefined || verbs.includes(grant.verb)) continue;
    throw new Fault(
      "invalid_argument",
      `${option} narrows ${verbs.join(", ")} only, and not ${grant.verb === "*" ? "'*'" : grant.verb}`,
    );
  }
}
