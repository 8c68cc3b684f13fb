import type { FailureOfJob, GraphFailures } from "#api/failure-of-job.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { failureExcerpt } from "#core/failure-excerpt.ts";
import type { Db } from "#db/db.ts";
import { batchOutput } from "#graphs/chunks/batch-output.store.ts";
import { endsOnBranch, failedJobsOf } from "#graphs/failures.store.ts";
import type { GraphId } from "#graphs/graph-id.ts";
import { graphSummary } from "#graphs/graph-summary.store.ts";
import { type RunOutput, runOutput } from "#graphs/job-detail.store.ts";
import { sinceWhen } from "#graphs/since-when.ts";
import { endOfRunLog } from "./run-log.ts";

const mostFailures = 20;
const excerptLines = 20;
/** In which the error is looked for, in bytes. */
const endBytes = 64 * 1024;

type Services = { readonly db: Db; readonly blobsOf: (project: string) => BlobStore };

/**
 * Returns what failed in a graph, since when, and the ends of the logs; undefined when there is no such graph.
 *
 * @param job only this job; `more` and `skipped` always count the whole graph
 * @param mayReadLogs whether the caller has the right to read logs; otherwise the answer contains none
 */
export async function graphFailures(
  services: Services,
  id: GraphId,
  mayReadLogs: boolean,
  job?: string,
): Promise<GraphFailures | undefined> {
  const { db } = services;
  const graph = await graphSummary(db, id);
  if (graph === undefined) return undefined;
  const failures: FailureOfJob[] = [];
  // One after the other: a page that many people open at once must not take all connections of the database.
  for (const { hasLog, failedBatch, ...failed } of await failedJobsOf(db, id, mostFailures, job)) {
    const since = sinceWhen(await endsOnBranch(db, id, failed.job));
    // A rerun that began meanwhile: the job has not failed any more.
    if (since === undefined) continue;
    const output = !mayReadLogs
      ? undefined
      : failedBatch !== null
        ? await batchOutput(db, id, failed.job, failed.run, failedBatch)
        : hasLog
          ? await runOutput(db, id, failed.job, failed.run)
          : undefined;
    const log = output === undefined ? null : await excerptOf(services, output);
    failures.push({ ...failed, ...since, log });
  }
  return {
    graph: id,
    failures,
    more: Math.max(0, (graph.counts.failed ?? 0) - failures.length),
    skipped: graph.counts.unreachable ?? 0,
  };
}

async function excerptOf(services: Services, output: RunOutput) {
  const end = await endOfRunLog(services, output, endBytes);
  return failureExcerpt(new TextDecoder().decode(end), excerptLines);
}
