import type { Logger } from "pino";
import type { Clock } from "#core/clock.ts";
import type { Service } from "#core/service.ts";
import type { Db } from "#db/db.ts";
import type { ExecutionQueue } from "#execution/execution-queue.ts";
import { deleteOldExecutions } from "#execution/retention.store.ts";
import { forgetWorkers } from "#execution/worker.store.ts";
import { passCancellationsOn } from "#graphs/cancel-graph.ts";
import { expireJobs } from "#graphs/expiry/expire-jobs.ts";
import { coalesceJobs } from "#graphs/ranges/coalesce-jobs.ts";
import { rollUpGraphs } from "#graphs/times/graph-times.store.ts";
import { rollUpRuns } from "#graphs/times/run-history.store.ts";

const dayMs = 24 * 60 * 60 * 1_000;
/** Runs keep what people ask for; executions are what the queue needed. */
const keepExecutionsMs = 7 * dayMs;
const keepSilentWorkersMs = dayMs;

interface Chore {
  readonly name: string;
  readonly everyMs: number;
  run(): Promise<unknown>;
}

/** Does what nobody waits for, now and then. Any number of servers may do it at once. */
export function startHousekeeping(rooms: {
  readonly db: Db;
  readonly queue: ExecutionQueue;
  readonly clock: Clock;
  readonly logger: Logger;
}): Service {
  const { db, queue, clock, logger } = rooms;
  const ago = (ms: number) => new Date(clock.now().getTime() - ms);
  const chores: readonly Chore[] = [
    {
      // A server may have died between storing a wish to cancel and passing it on.
      name: "pass cancellations on",
      everyMs: 5_000,
      run: () => passCancellationsOn(db, queue),
    },
    {
      name: "end the waiting of jobs that waited too long",
      everyMs: 1_000,
      async run() {
        while ((await expireJobs(db, queue, clock.now())) > 0);
      },
    },
    {
      name: "let newer jobs answer for older ones that wait",
      everyMs: 1_000,
      run: () => coalesceJobs(db, queue, clock.now()),
    },
    {
      name: "count what runs and graphs took",
      everyMs: 3_000,
      async run() {
        while (await rollUpRuns(db, clock.now()));
        while (await rollUpGraphs(db, clock.now()));
      },
    },
    {
      name: "forget workers that are long gone",
      everyMs: 10 * 60_000,
      run: () => forgetWorkers(db, ago(keepSilentWorkersMs)),
    },
    {
      name: "delete old executions",
      everyMs: 10 * 60_000,
      async run() {
        while ((await deleteOldExecutions(db, ago(keepExecutionsMs))) > 0);
      },
    },
  ];

  const inHand = new Set<Promise<void>>();
  const timers = chores.map((chore) => {
    let busy = false;
    const once = async () => {
      try {
        await chore.run();
      } catch (reason) {
        logger.warn({ err: reason, chore: chore.name }, "a chore failed; it comes round again");
      } finally {
        busy = false;
      }
    };
    const timer = setInterval(() => {
      if (busy) return;
      busy = true;
      const work = once();
      inHand.add(work);
      void work.then(() => inHand.delete(work));
    }, chore.everyMs);
    timer.unref();
    return timer;
  });

  return {
    async stop() {
      for (const timer of timers) clearInterval(timer);
      await Promise.all(inHand);
    },
  };
}
