import type { Clock } from "#core/clock.ts";
import type { IdleState } from "#core/idle-state.ts";
import type { Service } from "#core/service.ts";
import type { CancellingQueue } from "../cancel-graph.ts";
import { cancelChunkedRuns } from "../chunks/cancel-chunks.ts";
import { gatherOutputs } from "../chunks/gather-outputs.ts";
import { measureBatches } from "../chunks/measure-batches.ts";
import { type BatchServices, submitBatches } from "../chunks/submit-batches.ts";
import { useIdleWorkers } from "../chunks/use-idle-workers.ts";
import type { InProject } from "../project-of-jobs.ts";
import { beginServerJobs, type ServerJobServices } from "./begin-server-jobs.ts";
import { deliverNotifications } from "./deliver-notifications.ts";
import { endServerJobs } from "./end-server-jobs.ts";
import { nextNotification } from "./notification.store.ts";
import { type ChildGraphServices, planChildGraphs } from "./plan-child-graphs.ts";
import { nextDue } from "./server-job.store.ts";
import { startServerJobLoop, type Task } from "./server-job-loop.ts";
import { cancelOrphans, settleChildGraphs } from "./settle-child-graphs.ts";

interface ServerJobParts extends ServerJobServices, BatchServices, ChildGraphServices {
  readonly inProject: InProject;
  readonly clock: Clock;
  readonly queue: CancellingQueue;
  readonly idle?: IdleState | undefined;
}

/**
 * Runs the jobs that need no worker, and manages those that need several, until it is stopped. Any number of servers
 * may do it.
 *
 * Fast work and work that waits for others run in separate loops: a webhook that does not answer delays no timer.
 */
export async function serveServerJobs(parts: ServerJobParts): Promise<Service> {
  const { db, clock, logger, idle } = parts;
  const loop = (channels: readonly string[], tasks: readonly Task[]) =>
    startServerJobLoop({ db, clock, logger, idle, channels, tasks });
  const loops = await Promise.all([
    loop(["grange_ready", "grange_errand"], serverJobTasks(parts)),
    loop(
      ["grange_errand"],
      [
        {
          name: "deliver notifications",
          run: (now) => deliverNotifications(parts, now),
          next: () => nextNotification(db),
        },
      ],
    ),
    loop(["grange_errand"], childGraphTasks(parts)),
    loop(["grange_errand"], chunkTasks(parts)),
  ]);
  return {
    async stop() {
      await Promise.all(loops.map((each) => each.stop()));
    },
  };
}

export function serverJobTasks(parts: ServerJobServices): Task[] {
  const { db } = parts;
  return [
    { name: "begin server-side jobs", run: (now) => beginServerJobs(parts, now) },
    { name: "end server-side jobs", run: (now) => endServerJobs(db, now), next: () => nextDue(db) },
  ];
}

export function childGraphTasks(parts: ServerJobParts): Task[] {
  const { db, queue } = parts;
  return [
    { name: "plan graphs of jobs", run: (now) => planChildGraphs(parts, now) },
    { name: "end runs whose graphs are over", run: () => settleChildGraphs(db) },
    { name: "cancel graphs without a run", run: () => cancelOrphans(db, queue) },
  ];
}

export function chunkTasks(parts: ServerJobParts): Task[] {
  const { db, queue } = parts;
  return [
    { name: "cancel chunked jobs", run: () => cancelChunkedRuns(db, queue) },
    {
      name: "use idle workers",
      async run(now) {
        await useIdleWorkers(db, now);
        return 0;
      },
    },
    { name: "begin batches", run: (now) => submitBatches(parts, now) },
    { name: "measure batches", run: () => measureBatches(parts) },
    { name: "gather outputs", run: (now) => gatherOutputs(parts, now) },
  ];
}
