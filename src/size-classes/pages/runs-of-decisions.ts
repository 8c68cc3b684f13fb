import type { SizedRun } from "#execution/sizing/sized-runs.store.ts";

interface Decided {
  readonly number: number;
  readonly purpose: string;
  readonly decidedAt: Date;
}

/**
 * Which attempts came of which decision of one execution, by its number.
 *
 * A choice holds until the next: an attempt belongs to the latest before it was handed out; one of a second run,
 * to the latest choice of one. What a second run won, the first tells once more: it is told where it was.
 */
export function runsOfDecisions<Run extends SizedRun>(
  decisions: readonly Decided[],
  runs: readonly Run[],
): ReadonlyMap<number, readonly Run[]> {
  const isBeside = ({ requestedId, executionId }: SizedRun) => requestedId !== executionId;
  const beside = new Set(runs.filter(isBeside).map(placeAndTime));
  const told = runs.filter((run) => isBeside(run) || !beside.has(placeAndTime(run)));

  const found = new Map<number, Run[]>();
  for (const run of told) {
    const able = decisions.filter(({ purpose }) => (purpose === "hedge") === isBeside(run));
    // Clocks of servers differ by a moment: what is before all belongs to the first.
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
