import type { SizedRun } from "#execution/sizing/sized-runs.store.ts";

interface Decided {
  readonly number: number;
  readonly purpose: string;
  readonly decidedAt: Date;
}

/**
 * Returns the attempts that followed each decision about one execution, by its number.
 *
 * A decision is valid until the next: an attempt belongs to the latest decision before its lease; that of a second run,
 * to the latest hedge decision. The original repeats the result of a successful second run; it is shown with the second
 * run.
 */
export function runsOfDecisions<Run extends SizedRun>(
  decisions: readonly Decided[],
  runs: readonly Run[],
): ReadonlyMap<number, readonly Run[]> {
  const isBeside = ({ requestedId, executionId }: SizedRun) => requestedId !== executionId;
  const beside = new Set(runs.filter(isBeside).map(placeAndTime));
  const ownRuns = runs.filter((run) => isBeside(run) || !beside.has(placeAndTime(run)));

  const found = new Map<number, Run[]>();
  for (const run of ownRuns) {
    const able = decisions.filter(({ purpose }) => (purpose === "hedge") === isBeside(run));
    // Clocks of servers differ slightly: a run before all decisions belongs to the first.
    const decision =
      able.findLast(({ decidedAt }) => decidedAt.getTime() <= run.leasedAt.getTime()) ?? able[0];
    if (decision === undefined) continue;
    found.set(decision.number, [...(found.get(decision.number) ?? []), run]);
  }
  return found;
}

function placeAndTime({ worker, startedAt }: SizedRun): string | undefined {
  return startedAt === null ? undefined : `${worker} ${startedAt.getTime()}`;
}
