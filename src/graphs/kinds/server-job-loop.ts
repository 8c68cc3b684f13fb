import type { Logger } from "pino";
import type { Clock } from "#core/clock.ts";
import { messageOf } from "#core/fault.ts";
import { type IdleState, neverIdle, periodMs } from "#core/idle-state.ts";
import type { Service } from "#core/service.ts";
import type { Db } from "#db/db.ts";

/** A recurring task of the farm. */
export interface Task {
  /** For the log message of a failure. */
  readonly name: string;
  /** Does a batch of due work; returns how much there was. Called until it returns 0. */
  run(now: Date): Promise<number>;
  /** Returns the known time of the next work. */
  next?(): Promise<Date | undefined>;
}

/** Notifications wake the loop; this poll is a backup. */
const pollMs = 2_000;
const momentMs = 50;
/**
 * The pause before a retry after a failure, which is most likely a failure of the database, in ms.
 */
const pauseMs = 1_000;

/** Runs tasks until it is stopped: after notifications on its channels, and when work is due. */
export async function startServerJobLoop(parts: {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly channels: readonly string[];
  readonly tasks: readonly Task[];
  readonly idle?: IdleState | undefined;
}): Promise<Service> {
  const { db, clock, logger, tasks } = parts;
  const idle = parts.idle ?? neverIdle;
  let stopped = false;
  let wakes = 0;
  let rise: () => void = () => {};
  const wake = () => {
    wakes++;
    rise();
  };
  /** Waits for a notification or `ms`; returns at once if there was a notification since `seen`. */
  const sleep = (seen: number, ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      rise = () => {
        clearTimeout(timer);
        resolve();
      };
      if (wakes > seen || stopped) rise();
    });

  const once = async (task: Task): Promise<{ did: number; next: Date | undefined }> => {
    try {
      let did = 0;
      for (let more = 1; more > 0 && !stopped; did += more) more = await task.run(clock.now());
      return { did, next: await task.next?.() };
    } catch (reason) {
      logger.warn(
        { task: task.name, reason: messageOf(reason) },
        "a task of the server failed; it is tried again",
      );
      return { did: 0, next: new Date(clock.now().getTime() + pauseMs) };
    }
  };
  const loop = async () => {
    while (!stopped) {
      const seen = wakes;
      const turns = [];
      for (const task of tasks) turns.push(await once(task));
      if (turns.some(({ did }) => did > 0)) continue;
      const now = clock.now().getTime();
      const dueIn = turns.flatMap(({ next }) => (next === undefined ? [] : [next.getTime() - now]));
      // If work is due but none was found, another server has it: wait a moment.
      await sleep(
        seen,
        Math.min(periodMs(idle, pollMs), ...dueIn.map((ms) => Math.max(ms, ms > 0 ? 1 : momentMs))),
      );
    }
  };

  const listening = await Promise.all(parts.channels.map((channel) => db.listen(channel, wake)));
  const busy = idle.onBusy(wake);
  const running = loop();
  return {
    async stop() {
      stopped = true;
      wake();
      busy.stop();
      await Promise.all(listening.map((each) => each.stop()));
      await running;
    },
  };
}
