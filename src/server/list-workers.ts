import { listQuarantined } from "#access/worker-offence.store.ts";
import type { Worker } from "#api/worker.ts";
import type { Db } from "#db/db.ts";
import { type ListedWorker, listWorkers } from "#execution/leasing/worker.store.ts";
import { jobsServedBy } from "#graphs/job-detail.store.ts";

/** Returns workers for their page: the queue's data, joined with the jobs that graphs know. */
export async function workersForPage(db: Db, now: Date, leaseMs: number): Promise<Worker[]> {
  const [workers, quarantined] = await Promise.all([listWorkers(db), listQuarantined(db)]);
  const offences = new Map(quarantined.map(({ principal, what }) => [principal, what]));
  const ids = workers.flatMap((worker) => worker.running.map((each) => each.executionId));
  const jobs = new Map(
    (ids.length === 0 ? [] : await jobsServedBy(db, ids)).map((job) => [job.executionId, job]),
  );
  return workers.map(({ draining, leaseMs: ownLeaseMs, ...worker }) => ({
    ...worker,
    state: stateOf({ ...worker, draining }, now, ownLeaseMs ?? leaseMs),
    quarantine: offences.get(worker.principal) ?? null,
    registeredAt: worker.registeredAt.toISOString(),
    lastSeenAt: worker.lastSeenAt.toISOString(),
    running: worker.running.map(({ executionId, since }) => ({
      executionId,
      graphId: jobs.get(executionId)?.graphId ?? null,
      job: jobs.get(executionId)?.job ?? null,
      since: since.toISOString(),
    })),
  }));
}

/** A worker that was silent for the duration of a lease has lost its leases. */
function stateOf(
  worker: Pick<ListedWorker, "lastSeenAt" | "draining" | "running" | "endingCount">,
  now: Date,
  leaseMs: number,
): Worker["state"] {
  if (now.getTime() - worker.lastSeenAt.getTime() > leaseMs) return "lost";
  if (worker.draining) return "draining";
  return worker.running.length + worker.endingCount > 0 ? "busy" : "idle";
}
