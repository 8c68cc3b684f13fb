import type { Logger } from "pino";
import type { IdleState } from "#core/idle-state.ts";
import { startPacedTimer } from "#core/paced-timer.ts";
import type { Service } from "#core/service.ts";

/** How long after the start the first task with a longer period runs; the others follow one after the other. */
const firstRunMs = 60_000;
/** First runs are spread, so that not all read the database at once: this many in each further minute. */
const firstRunsAMinute = 30;

/**
 * Tasks whose times coincide start one after the other. Together they would use all connections to the database: each
 * open connection costs 5 to 10 MiB, and while the farm is idle, all tasks have the same period.
 */
const apartMs = 10;

/** Background work. Any number of servers may do it at the same time. */
export interface PeriodicTask {
  /** For the log. */
  readonly name: string;
  readonly everyMs: number;
  /** Not delayed while the farm is idle, because the task watches other systems, not work. */
  readonly staysOnTime?: true;
  run(): Promise<unknown>;
}

/**
 * Runs tasks at their times; no task runs twice at the same time. A failure is logged, and the task runs again at its
 * next time.
 *
 * Tasks with a long period first run soon after the start: a server that restarts more often than their period would
 * never run them, and its database would grow.
 */
export function startPeriodicTasks(
  tasks: readonly PeriodicTask[],
  {
    logger,
    idle,
    firstMs = firstRunMs,
  }: { readonly logger: Logger; readonly idle: IdleState; readonly firstMs?: number },
): Service {
  const inHand = new Set<Promise<void>>();
  const endTimers = tasks.map((task, index) => {
    let busy = false;
    const once = async () => {
      try {
        await task.run();
      } catch (reason) {
        logger.warn(
          { err: reason, task: task.name },
          "a periodic task failed; it runs again at its next time",
        );
      } finally {
        busy = false;
      }
    };
    const start = () => {
      if (busy) return;
      busy = true;
      const work = once();
      inHand.add(work);
      void work.then(() => inHand.delete(work));
    };
    let delayed: ReturnType<typeof setTimeout> | undefined;
    const afterMs = firstMs + (index * firstMs) / firstRunsAMinute;
    const first = afterMs < task.everyMs ? setTimeout(start, afterMs).unref() : undefined;
    const endTimer = startPacedTimer(
      task.everyMs,
      task.staysOnTime === true ? undefined : idle,
      () => {
        // A task whose period is shorter than this delay has only one timer, which the stop ends.
        delayed ??= setTimeout(() => {
          delayed = undefined;
          start();
        }, index * apartMs).unref();
      },
    );
    return () => {
      clearTimeout(first);
      clearTimeout(delayed);
      endTimer();
    };
  });

  return {
    async stop() {
      for (const end of endTimers) end();
      await Promise.all(inHand);
    },
  };
}
