import type { Logger } from "pino";
import type { IdleState } from "#core/idle-state.ts";
import { startPacedTimer } from "#core/paced-timer.ts";
import type { Service } from "#core/service.ts";

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
 */
export function startPeriodicTasks(
  tasks: readonly PeriodicTask[],
  { logger, idle }: { readonly logger: Logger; readonly idle: IdleState },
): Service {
  const inHand = new Set<Promise<void>>();
  const endTimers = tasks.map((task) => {
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
    return startPacedTimer(task.everyMs, task.staysOnTime === true ? undefined : idle, () => {
      if (busy) return;
      busy = true;
      const work = once();
      inHand.add(work);
      void work.then(() => inHand.delete(work));
    });
  });

  return {
    async stop() {
      for (const end of endTimers) end();
      await Promise.all(inHand);
    },
  };
}
