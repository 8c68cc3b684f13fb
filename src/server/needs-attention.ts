import type { GraphSummary } from "#api/graph.ts";
import type { AttentionItem } from "#api/overview.ts";
import type { StoreStanding } from "#api/store.ts";
import type { Worker } from "#api/worker.ts";
import type { UnservedExecutions } from "#execution/claiming/unserved-executions.ts";

/** The limit for items of one kind: the page shows what to begin with, not all there is. */
const mostOfKind = 10;

/** What is known of the whole farm. */
interface FarmFacts {
  readonly workers: readonly Worker[];
  readonly unserved: readonly UnservedExecutions[];
  readonly store: StoreStanding;
  readonly quarantinedResults: number;
  readonly benchmarkAlarms: readonly string[];
  readonly failedBenchmarks: readonly (AttentionItem & { kind: "failed benchmark" })[];
}

interface Facts {
  /** The newest graphs, without subgraphs, the newest first. */
  readonly graphs: readonly GraphSummary[];
  /** By graph. */
  readonly failedJobs: ReadonlyMap<string, readonly string[]>;
  /** The newest first. */
  readonly failedBuilds: readonly (AttentionItem & { kind: "failed build" })[];
  /** The name of the caller. */
  readonly caller: string;
  /** Undefined for callers that may not read the whole farm. */
  readonly farm: FarmFacts | undefined;
}

/**
 * Returns what a person should look at: failures of the caller first, then other failures, graphs that wait for
 * somebody, and the state of the farm.
 */
export function needsAttention({
  graphs,
  failedJobs,
  failedBuilds,
  caller,
  farm,
}: Facts): AttentionItem[] {
  const failed = newestFailures(graphs, caller).map((graph) => ({
    kind: "failed graph" as const,
    graph,
    failedJobs: [...(failedJobs.get(graph.id) ?? [])],
    isYours: graph.submittedBy === caller,
  }));
  const waiting = graphs
    .filter(({ state, counts }) => state === "running" && (counts.waiting ?? 0) > 0)
    .map((graph) => ({
      kind: "waiting graph" as const,
      graph,
      jobs: graph.counts.waiting ?? 0,
    }));
  return [
    ...[...failed, ...failedBuilds].toSorted((a, b) => Number(b.isYours) - Number(a.isYours)),
    ...(farm?.failedBenchmarks ?? []),
    ...waiting.slice(0, mostOfKind),
    ...(farm === undefined ? [] : itemsOfFarm(farm)),
  ];
}

/**
 * Returns failed graphs that no newer graph of their branch has followed, those of the caller first.
 *
 * @param graphs without subgraphs, the newest first
 */
export function newestFailures(graphs: readonly GraphSummary[], caller: string): GraphSummary[] {
  const seen = new Set<string>();
  const newest = graphs.filter(({ repository, branch }) => {
    const key = JSON.stringify([repository, branch]);
    const isNewest = !seen.has(key);
    seen.add(key);
    return isNewest;
  });
  return newest
    .filter(({ state }) => state === "failed")
    .toSorted((a, b) => Number(b.submittedBy === caller) - Number(a.submittedBy === caller))
    .slice(0, mostOfKind);
}

function itemsOfFarm(farm: FarmFacts): AttentionItem[] {
  const { workers, unserved, store, quarantinedResults, benchmarkAlarms } = farm;
  const ofWorkers = workers.flatMap(itemsOfWorker).slice(0, 3 * mostOfKind);
  const { limitBytes, counted, scrubbed } = store;
  return [
    ...unserved.map((executions) => ({
      kind: "executions without a worker" as const,
      ...executions,
    })),
    ...ofWorkers,
    ...(limitBytes !== null && counted !== null && counted.overBytes > 0
      ? [{ kind: "full store" as const, overBytes: counted.overBytes, limitBytes }]
      : []),
    ...(scrubbed !== null && scrubbed.corrupt > 0
      ? [{ kind: "corrupt blobs" as const, blobs: scrubbed.corrupt, at: scrubbed.at }]
      : []),
    ...(quarantinedResults > 0
      ? [{ kind: "quarantined results" as const, results: quarantinedResults }]
      : []),
    ...benchmarkAlarms
      .slice(0, mostOfKind)
      .map((alarm) => ({ kind: "benchmark alarm" as const, alarm })),
  ];
}

function itemsOfWorker(one: Worker): AttentionItem[] {
  const { name: worker, state, trouble, quarantine, lastSeenAt } = one;
  if (quarantine !== null) return [{ kind: "quarantined worker", worker, reason: quarantine }];
  if (state === "lost") return [{ kind: "lost worker", worker, lastSeenAt }];
  if (trouble !== null) return [{ kind: "worker in trouble", worker, reason: trouble }];
  return [];
}
