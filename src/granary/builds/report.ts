import type {
  DiskCost,
  GranaryBuildReport,
  RequestedResult,
  ResultSource,
  UsedIndex,
} from "#api/granary.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { bytesOf, isHit, type ResultAccess } from "./build-accesses.ts";
import type { BuildFacts } from "./build-facts.ts";

export type TruncatedMark = GranaryBuildReport["truncated"][number];

/** The prefetched blobs of a build. */
export interface Transferred {
  readonly blobs: readonly Digest[];
  readonly truncated: readonly TruncatedMark[];
}

export interface EndOfBuild {
  readonly id: string;
  readonly startedAt: Date;
  readonly endedAt: Date;
  readonly exitCode: number | null;
  readonly indexes: readonly UsedIndex[];
  readonly notAhead?: GranaryBuildReport["notAhead"];
  readonly transferred: Transferred;
  readonly uploadedBytes: number;
  readonly diskTrouble?: DiskCost | undefined;
  readonly truncated: readonly TruncatedMark[];
}

const mostRequested = 2_000;

/** Returns the report of a build: the sources of its results. Misses are listed first, because hits are many. */
export function reportOf(
  facts: BuildFacts,
  accesses: readonly ResultAccess[],
  end: EndOfBuild,
): GranaryBuildReport {
  const counts = { local: 0, prefetched: 0, fetched: 0, missed: 0, unreachable: 0 };
  const bytes = { local: 0, prefetched: 0, fetched: 0 };
  const leads: number[] = [];
  const used = new Set<string>();
  let waitedMs = 0;
  let savedMs = 0;
  for (const one of accesses) {
    counts[one.source] += 1;
    waitedMs += one.waitedMs;
    if (one.value !== undefined) used.add(digestKey(one.value));
    for (const blob of one.blobs) used.add(digestKey(blob));
    if (!isHit(one)) continue;
    bytes[one.source as keyof typeof bytes] += bytesOf(one);
    savedMs += one.costMs ?? 0;
    if (one.leadMs !== undefined) leads.push(one.leadMs);
  }
  const { blobs } = end.transferred;
  const requested = [...accesses].sort(byInterest).slice(0, mostRequested);
  const truncated = new Set([...end.truncated, ...end.transferred.truncated]);
  if (accesses.length > mostRequested) truncated.add("asked");
  return {
    id: end.id,
    project: facts.project,
    repository: facts.repository,
    commit: facts.commits[0] ?? null,
    branch: facts.branch,
    dirty: facts.dirty,
    environment: facts.environment,
    machine: facts.machine,
    command: facts.command,
    startedAt: end.startedAt.toISOString(),
    endedAt: end.endedAt.toISOString(),
    exitCode: end.exitCode,
    indexes: end.indexes.slice(0, 3),
    ...(end.notAhead === undefined ? {} : { notAhead: end.notAhead }),
    counts,
    bytes: {
      ...bytes,
      transferred: sizeOf(blobs),
      wasted: sizeOf(blobs.filter((blob) => !used.has(digestKey(blob)))),
      uploaded: end.uploadedBytes,
    },
    lead: leadOf(leads),
    waitedMs: Math.round(waitedMs),
    savedMs: Math.round(savedMs),
    ...(end.diskTrouble === undefined ? {} : { diskTrouble: end.diskTrouble }),
    truncated: [...truncated],
    asked: requested.map(requestedResult),
  };
}

const interest: Readonly<Record<ResultSource, number>> = {
  missed: 0,
  unreachable: 0,
  fetched: 1,
  prefetched: 2,
  local: 2,
};

function byInterest(a: ResultAccess, b: ResultAccess): number {
  return interest[a.source] - interest[b.source] || a.atMs - b.atMs;
}

function requestedResult(one: ResultAccess): RequestedResult {
  return {
    namespace: one.key.namespace,
    key: one.key.key,
    source: one.source,
    because: one.because ?? null,
    atMs: Math.round(one.atMs),
    bytes: bytesOf(one),
    leadMs: one.leadMs === undefined ? null : Math.round(one.leadMs),
    waitedMs: Math.round(one.waitedMs),
    savedMs: one.costMs === undefined ? null : Math.round(one.costMs),
  };
}

function leadOf(leads: number[]): GranaryBuildReport["lead"] {
  leads.sort((a, b) => a - b);
  const [leastMs] = leads;
  const medianMs = leads[leads.length >> 1];
  if (leastMs === undefined || medianMs === undefined) return null;
  return { medianMs: Math.round(medianMs), leastMs: Math.round(leastMs) };
}

function sizeOf(blobs: readonly Digest[]): number {
  return blobs.reduce((sum, blob) => sum + blob.sizeBytes, 0);
}
