import { grantsOf } from "#access/grant.store.ts";
import { everybody, type Principal } from "#access/principal.ts";
import { Fault } from "#core/fault.ts";
import { cancelGraph } from "#graphs/cancel-graph.ts";
import type { GraphId } from "#graphs/graph-id.ts";
import {
  askCommit,
  graphIdOf,
  type JudgedGraph,
  judgeGraphs,
  type RangeServices,
} from "./ask-commit.ts";
import { nextProbes, turnWithin } from "./next-probes.ts";
import {
  commitsAt,
  knownStandings,
  type OpenCommit,
  requestedCommits,
  type StandingOfCommit,
  saveStandings,
  unknownCommits,
} from "./range-commit.store.ts";
import {
  endSearch,
  holdSearch,
  keepHolding,
  nameSearchSet,
  narrowSearch,
  releaseSearch,
  type SearchId,
  type SearchToStep,
} from "./search.store.ts";
import { wantSearchedJobs } from "./want-searched-jobs.ts";

/**
 * The right of a server to the next step expires after this time; a working server extends its
 * right.
 */
const holdSeconds = 60;

/**
 * The number of graphs of one backfill that run at the same time; without a limit, other work would wait for years of
 * history.
 */
export const mostUnderWay = 50;

/** The pause before a failed search is retried, so that other searches get their turns. */
const afterFailureSeconds = 10;

/**
 * Executes the next step of each search that no other server holds, or only of the named search. Returns the number of
 * steps.
 *
 * A failing search does not stop the others: its error is thrown after all have had their turns.
 */
export async function stepSearches(services: RangeServices, id?: SearchId): Promise<number> {
  const had: SearchId[] = [];
  const failures: unknown[] = [];
  for (;;) {
    const search = await holdSearch(services.db, holdSeconds, had, id);
    if (search === undefined) break;
    had.push(search.id);
    try {
      await stepSearch(services, search);
      await releaseSearch(services.db, search.id);
    } catch (reason) {
      if (endsIt(reason)) await endSearch(services.db, search.id, "cancelled", reason.message);
      else {
        failures.push(reason);
        await keepHolding(services.db, search.id, afterFailureSeconds);
      }
    }
  }
  if (failures.length > 0) throw failures[0];
  return had.length;
}

/** Rights may have been removed since it started, and ids of its graphs may be in use. */
function endsIt(reason: unknown): reason is Fault {
  return reason instanceof Fault && ["permission_denied", "already_exists"].includes(reason.code);
}

async function stepSearch(services: RangeServices, search: SearchToStep): Promise<void> {
  // The rights are those that the principal has now.
  const by: Principal = {
    name: search.startedBy,
    grants: await grantsOf(services.db, search.startedBy),
  };
  await takeResults(services, search, by);
  switch (search.kind) {
    case "backfill":
      return goOnFilling(services, search, by);
    case "bisect":
      return goOnBisecting(services, search, by);
  }
}

/** Stores the results of the requested commits. */
async function takeResults(
  services: RangeServices,
  search: SearchToStep,
  by: Principal,
): Promise<void> {
  const requested = await requestedCommits(services.db, search.id);
  const judged = await judgeGraphs(
    services.db,
    search,
    requested.map(({ graphId }) => graphId),
  );
  const standings: StandingOfCommit[] = [];
  for (const [i, { position, graphId }] of requested.entries()) {
    const one = judged[i];
    const standing = one && (await standingAfter(services, search, one, by));
    if (standing !== undefined) standings.push({ position, graphId, ...standing });
  }
  await saveStandings(services.db, search.id, standings);
}

/** Returns the result of a requested commit; undefined while its jobs run. */
async function standingAfter(
  services: RangeServices,
  search: SearchToStep,
  judged: JudgedGraph,
  by: Principal,
): Promise<Pick<StandingOfCommit, "standing" | "why"> | undefined> {
  const { verdict } = judged;
  switch (verdict.kind) {
    case "good":
    case "bad":
      return { standing: verdict.kind, why: null };
    case "under way":
      return undefined;
    case "asleep":
    case "unsure":
      if (await wantSearchedJobs(services, search, judged, by)) return undefined;
      return { standing: "skipped", why: "its jobs cannot run" };
    case "untestable":
      return { standing: "skipped", why: verdict.why };
    case "absent":
      return { standing: "skipped", why: `it has no job that "${search.selection}" means` };
  }
}

async function goOnFilling(
  services: RangeServices,
  search: SearchToStep,
  by: Principal,
): Promise<void> {
  const underWay = (await requestedCommits(services.db, search.id)).length;
  const next = await unknownCommits(services.db, search.id, Math.max(0, mostUnderWay - underWay));
  if (underWay + next.length === 0) {
    await endSearch(services.db, search.id, "finished", "every commit of the range has its answer");
  } else {
    await askAll(services, search, next, by);
  }
}

async function goOnBisecting(
  services: RangeServices,
  search: SearchToStep,
  by: Principal,
): Promise<void> {
  const range = { last: search.commits, known: await knownStandings(services.db, search.id) };
  const step = nextProbes(range, search.parallel);
  const { low, high } = turnWithin(range);
  await narrowSearch(services.db, search.id, { from: low + 1, to: high });
  switch (step.kind) {
    case "wait":
      return;
    case "probe":
      return askAll(services, search, await commitsAt(services.db, search.id, step.positions), by);
    case "found": {
      const [first] = await commitsAt(services.db, search.id, [step.position]);
      const message = `${first?.commit.slice(0, 10) ?? "?"} is the first bad commit`;
      await endSearch(services.db, search.id, "finished", message);
      return;
    }
    case "undecidable": {
      const left = step.to - step.from + 1;
      const message = `the first bad commit is one of ${left}: those between them cannot be tested`;
      await endSearch(services.db, search.id, "finished", message);
    }
  }
}

async function askAll(
  services: RangeServices,
  search: SearchToStep,
  commits: readonly OpenCommit[],
  by: Principal,
): Promise<void> {
  let { set } = search;
  for (const commit of commits) {
    if (!(await keepHolding(services.db, search.id, holdSeconds))) return;
    const standing = await askCommit(services, { ...search, set }, commit, by);
    if (standing.graphId === graphIdOf(search, commit.position)) {
      if (set === null) await nameSearchSet(services.db, search.id, standing.graphId);
      set ??= standing.graphId;
      await endIfCancelled(services, search, standing.graphId);
    }
    await saveStandings(services.db, search.id, [standing]);
  }
}

/** If the search was cancelled while this graph was being created, the cancellation did not find this graph. */
async function endIfCancelled(
  { db, queue }: RangeServices,
  search: SearchToStep,
  graphId: GraphId,
): Promise<void> {
  if (await keepHolding(db, search.id, holdSeconds)) return;
  // The right to cancel was checked when the search was cancelled.
  await cancelGraph(db, queue, { ...everybody, name: search.startedBy }, graphId);
}
