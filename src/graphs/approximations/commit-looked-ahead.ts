import type { Tx } from "#db/db.ts";
import { advanceStoredGraphs, lockGraphs, wakeRunners } from "../advancing/advance.store.ts";
import { insertRuns, type NewRun } from "../insert-runs.store.ts";
import { graphEventsOf } from "../queue-events.ts";
import { chainKey, factsOf, type JobFacts } from "./approximation-facts.store.ts";
import type { LookedAhead } from "./know-ahead.ts";
import { closeApproximations, setFindersAside, stillWaiting } from "./looked-ahead.store.ts";

/**
 * Ends jobs whose results are known before their inputs are found, and sets aside the jobs that were only to find these
 * inputs.
 *
 * All other jobs wait for their finders, which now run; so do jobs whose facts have changed since the lookup. Jobs that
 * were cancelled meanwhile are left alone.
 */
export async function commitLookedAhead(tx: Tx, looked: readonly LookedAhead[]): Promise<void> {
  const graphs = await lockGraphs(
    tx,
    looked.map(({ job }) => job.graphId),
  );
  const held = await stillWaiting(
    tx,
    looked.map(({ job }) => job),
  );
  const stand = await factsOf(
    tx,
    looked.map(({ job }) => job),
  );
  const waiting = looked.filter(({ job }) => held.has(chainKey(job)));
  const hits = waiting.flatMap(({ job, facts, known }) =>
    known !== undefined && isAsItWas(facts, stand.get(chainKey(job)) ?? []) ? [{ job, known }] : [],
  );
  const isHit = new Set(hits.map(({ job }) => job));
  const missed = waiting.map(({ job }) => job).filter((job) => !isHit.has(job));
  await closeApproximations(tx, [...isHit], missed);
  await insertRuns(
    tx,
    hits.map(({ job, known }): NewRun => {
      const finder = job.definition["inputs-from"]?.job ?? "";
      const { [finder]: _, ...inputRuns } = job.inputRuns;
      return {
        graphId: job.graphId,
        job: job.job,
        cause: job.cause,
        inputRuns,
        kind: "hit",
        ...known,
        without: finder,
        message: `known before ${finder} had found its inputs: no file that either may read has changed since then`,
      };
    }),
  );
  const unneeded = await setFindersAside(tx, [...isHit]);
  await advanceStoredGraphs(tx, graphEventsOf(graphs, [...isHit, ...unneeded]));
  if (waiting.length > unneeded.length) await wakeRunners(tx);
}

/** The progress of a finder is irrelevant here. */
function isAsItWas(before: readonly JobFacts[], now: readonly JobFacts[]): boolean {
  return JSON.stringify(before.map(whatCounts)) === JSON.stringify(now.map(whatCounts));
}

function whatCounts({ job, definition, approximation, isCustomised, stale, given }: JobFacts) {
  return { job, definition, approximation, isCustomised, stale, given };
}
