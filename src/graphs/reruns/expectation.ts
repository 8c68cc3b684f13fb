import type { PlannedChange, PlannedJob } from "#api/rerun.ts";

/**
 * Returns the expected duration and cost of planned jobs.
 *
 * `pricePerWorkerMinute` is in the currency of the farm's operator; 0 when there is no price. The jobs are in an order
 * in which they can run.
 */
export function expectationOf(
  jobs: readonly PlannedJob[],
  needsMachine: (job: PlannedJob) => boolean,
  pricePerWorkerMinute: number,
): PlannedChange["expected"] {
  const running = jobs.filter(({ cause }) => cause !== null);
  const chains = new Map<string, Chain>();
  let longest: Chain | undefined;
  for (const job of running) {
    const chain = longestChainTo(job, chains);
    chains.set(keyOf(job.graph, job.job), chain);
    if (longest === undefined || chain.ms > longest.ms) longest = chain;
  }
  const workerMs = sum(running.filter(needsMachine).map(durationOf));
  return {
    runs: sum(running.map(({ times }) => times)),
    endToEndMs: longest?.ms ?? 0,
    workerMs,
    cost: pricePerWorkerMinute === 0 ? null : (workerMs / 60_000) * pricePerWorkerMinute,
    unknownJobs: running.filter(({ expectedMs }) => expectedMs === null).length,
    criticalPath: longest === undefined ? [] : jobsAlong(longest),
  };
}

interface Chain {
  readonly ms: number;
  readonly job: PlannedJob;
  readonly before: Chain | undefined;
}

function longestChainTo(job: PlannedJob, chains: ReadonlyMap<string, Chain>): Chain {
  const before = job.waitsFor
    .flatMap((on) => chains.get(keyOf(job.graph, on)) ?? [])
    .reduce<Chain | undefined>((best, one) => (one.ms > (best?.ms ?? -1) ? one : best), undefined);
  return { ms: (before?.ms ?? 0) + durationOf(job), job, before };
}

function jobsAlong(last: Chain): { graph: string; job: string }[] {
  const path: { graph: string; job: string }[] = [];
  for (let at: Chain | undefined = last; at !== undefined; at = at.before) {
    path.unshift({ graph: at.job.graph, job: at.job.job });
  }
  return path;
}

function durationOf({ expectedMs, times }: PlannedJob): number {
  return (expectedMs ?? 0) * times;
}

function keyOf(graph: string, job: string): string {
  return `${graph} ${job}`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
