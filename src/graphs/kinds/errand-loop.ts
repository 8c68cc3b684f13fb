import type { Logger } from "pino";
import type { Clock } from "#core/clock.ts";
import { messageOf } from "#core/fault.ts";
import { type IdleState, neverIdle, periodMs } from "#core/idle-state.ts";
import type { Service } from "#core/service.ts";
import type { Db } from "#db/db.ts";

/** Something that the farm does again and again, when there is something to do. */
export interface Chore {
  /** For the log, when it fails. */
  readonly name: string;
  /** Does a batch of what is due; answers how much there was. Called until it answers 0. */
  run(now: Date): Promise<number>;
  /** When there is something to do next, as far as is known. */
  next?(): Promise<Date | undefined>;
}

/** Notifications wake the loop; this is the net below them. */
const pollMs = 2_000;
const momentMs = 50;
/** A failure of the database, most likely: it is given time to come back. */
const pauseMs = 1_000;

/** Does chores until it is stopped: when one of the channels tells, and when something comes due. */
export async function startErrandLoop(parts: {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly channels: readonly string[];
  readonly chores: readonly Chore[];
  readonly idle?: IdleState | undefined;
}): Promise<Service> {
  const { db, clock, logger, chores } = parts;
  const idle = parts.idle ?? neverIdle;
  let stopped = false;
  let wakes = 0;
  let rise: () => void = () => {};
  const wake = () => {
    wakes++;
    rise();
  };
  /** Until something tells, or `ms` have passed; not at all when something has told since `seen`. */
  const sleep = (seen: number, ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      rise = () => {
        clearTimeout(timer);
        resolve();
      };
      if (wakes > seen || stopped) rise();
    });

  const once = async (chore: Chore): Promise<{ did: number; next: Date | undefined }> => {
    try {
      let did = 0;
      for (let more = 1; more > 0 && !stopped; did += more) more = await chore.run(clock.now());
      return { did, next: await chore.next?.() };
    } catch (reason) {
      logger.warn(
        { chore: chore.name, reason: messageOf(reason) },
        "the farm could not do its chore; trying again",
      );
      return { did: 0, next: new Date(clock.now().getTime() + pauseMs) };
    }
  };
  const loop = async () => {
    while (!stopped) {
      const seen = wakes;
      const turns = [];
      for (const chore of chores) turns.push(await once(chore));
      if (turns.some(({ did }) => did > 0)) continue;
      const now = clock.now().getTime();
      const dueIn = turns.flatMap(({ next }) => (next === undefined ? [] : [next.getTime() - now]));
      // A time that has come, but finds nothing to do, is in other hands: they are given a moment.
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
