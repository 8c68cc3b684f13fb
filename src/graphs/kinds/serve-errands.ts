import type { Clock } from "#core/clock.ts";
import type { IdleState } from "#core/idle-state.ts";
import type { Service } from "#core/service.ts";
import type { CancellingQueue } from "../cancel-graph.ts";
import { cancelChunkedRuns } from "../chunks/cancel-chunks.ts";
import { gatherOutputs } from "../chunks/gather-outputs.ts";
import { measureBatches } from "../chunks/measure-batches.ts";
import { type BatchRooms, submitBatches } from "../chunks/submit-batches.ts";
import { useIdleWorkers } from "../chunks/use-idle-workers.ts";
import { beginErrands, type ErrandRooms } from "./begin-errands.ts";
import { deliverNotifications } from "./deliver-notifications.ts";
import { endErrands } from "./end-errands.ts";
import { nextDue } from "./errand.store.ts";
import { type Chore, startErrandLoop } from "./errand-loop.ts";
import { nextNotification } from "./notification.store.ts";
import { type ChildGraphRooms, planChildGraphs } from "./plan-child-graphs.ts";
import { cancelOrphans, settleChildGraphs } from "./settle-child-graphs.ts";

export interface ErrandParts extends ErrandRooms, BatchRooms, ChildGraphRooms {
  readonly clock: Clock;
  readonly queue: CancellingQueue;
  readonly idle?: IdleState | undefined;
}

/**
 * Serves the jobs that need no machine, and sees to those that need several, as long as it runs. Any number of servers may.
 *
 * What is quick and what waits for others have loops of their own: a webhook that does not answer
 * holds up no timer.
 */
export async function serveErrands(parts: ErrandParts): Promise<Service> {
  const { db, clock, logger, idle } = parts;
  const loop = (channels: readonly string[], chores: readonly Chore[]) =>
    startErrandLoop({ db, clock, logger, idle, channels, chores });
  const loops = await Promise.all([
    loop(["grange_ready", "grange_errand"], errandChores(parts)),
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
    loop(["grange_errand"], childGraphChores(parts)),
    loop(["grange_errand"], chunkChores(parts)),
  ]);
  return {
    async stop() {
      await Promise.all(loops.map((each) => each.stop()));
    },
  };
}

export function errandChores(parts: ErrandRooms): Chore[] {
  const { db } = parts;
  return [
    { name: "begin errands", run: (now) => beginErrands(parts, now) },
    { name: "end errands", run: (now) => endErrands(db, now), next: () => nextDue(db) },
  ];
}

export function childGraphChores(parts: ErrandParts): Chore[] {
  const { db, queue } = parts;
  return [
    { name: "plan graphs of jobs", run: (now) => planChildGraphs(parts, now) },
    { name: "end runs whose graphs are over", run: () => settleChildGraphs(db) },
    { name: "cancel graphs without a run", run: () => cancelOrphans(db, queue) },
  ];
}

export function chunkChores(parts: ErrandParts): Chore[] {
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
