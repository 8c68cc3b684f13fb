import { matches } from "#api/selection/matches.ts";
import { parseSelection } from "#api/selection/parse-selection.ts";
import type { Selection } from "#api/selection/selection.ts";
import type { DefinedJob } from "#definitions/fill-templates.ts";
import { needsOf } from "#definitions/needs-of.ts";

type Jobs = ReadonlyMap<string, DefinedJob>;

/**
 * Returns the jobs that all selections match, with the jobs that they need.
 *
 * An optional need is included only when a selection matches it.
 */
export function selectedJobs(
  jobs: Jobs,
  selections: readonly (string | undefined)[],
): Map<string, DefinedJob> {
  const parsed = selections.flatMap((text) => (text === undefined ? [] : [parseSelection(text)]));
  if (parsed.length === 0) return new Map(jobs);
  const chosen = new Set(
    [...jobs.values()]
      .filter((job) => parsed.every((selection) => isMeant(selection, job)))
      .map(({ name }) => name),
  );
  // The loop also visits jobs that are added to the set during iteration.
  for (const name of chosen) {
    for (const [on, need] of Object.entries(needsOf(jobs.get(name)?.definition ?? {})))
      if (need.optional !== true) chosen.add(on);
  }
  return new Map([...jobs].filter(([name]) => chosen.has(name)));
}

/** Returns the jobs that run only on request, and those that cannot run without one of these. */
export function inactiveJobs(jobs: Jobs, inactive: string | undefined): Set<string> {
  if (inactive === undefined) return new Set();
  const selection = parseSelection(inactive);
  const found = new Set(
    [...jobs.values()].filter((job) => isMeant(selection, job)).map(({ name }) => name),
  );
  const neededBy = neededByOf(jobs);
  for (const name of found) for (const waiting of neededBy.get(name) ?? []) found.add(waiting);
  return found;
}

/** Returns the jobs of the graph: without those that lack a needed job. */
export function wantedJobs(jobs: Jobs): Map<string, DefinedJob> {
  const dropped = new Set([...jobs.values()].filter((job) => !job.wanted).map(({ name }) => name));
  if (dropped.size === 0) return new Map(jobs);
  const neededBy = neededByOf(jobs);
  for (const name of dropped) for (const waiting of neededBy.get(name) ?? []) dropped.add(waiting);
  return new Map([...jobs].filter(([name]) => !dropped.has(name)));
}

/** Returns, for each job, the jobs that cannot run without it. */
function neededByOf(jobs: Jobs): Map<string, string[]> {
  const neededBy = new Map<string, string[]>();
  for (const job of jobs.values()) {
    for (const [on, need] of Object.entries(needsOf(job.definition))) {
      if (need.optional === true) continue;
      const waiting = neededBy.get(on) ?? [];
      neededBy.set(on, waiting);
      waiting.push(job.name);
    }
  }
  return neededBy;
}

function isMeant(selection: Selection, { name, definition }: DefinedJob): boolean {
  const kind = definition.kind ?? "command";
  return matches(selection, { name, tags: definition.tags ?? {}, kind, state: "" });
}
