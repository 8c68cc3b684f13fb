import type { Logger } from "pino";
import type { Clock } from "#core/clock.ts";
import type { Db } from "#db/db.ts";
import { type AfterSending, type DueAlarm, settleAlarm, takeAlarms } from "./lab-alarm.store.ts";

/** Sends one alarm; undefined when it was accepted, otherwise the reason, for people. */
export type SendAlarm = (alarm: Pick<DueAlarm, "id" | "body">) => Promise<string | undefined>;

const mostAtOnce = 16;
/** Far longer than an attempt takes. */
const turnMs = 60_000;
const firstWaitMs = 1_000;
const longestWaitMs = 3_600_000;

/** Returns a function that sends the alarms that are due. Any number of servers may call it. */
export function alarmSender(parts: {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Pick<Logger, "error">;
  readonly send: SendAlarm;
}): () => Promise<void> {
  const { db, clock, logger, send } = parts;
  return async () => {
    const now = clock.now();
    const taken = await takeAlarms(db, now, new Date(now.getTime() + turnMs), mostAtOnce);
    await Promise.all(
      taken.map(async (alarm) => {
        const after = afterSending(alarm, await send(alarm), clock.now());
        await settleAlarm(db, alarm, after);
        if (after.state === "failed")
          logger.error(
            { alarm: alarm.body, problem: after.problem },
            "an alarm was not accepted by its receiver",
          );
      }),
    );
  };
}

/** Decides what follows an attempt: the pause doubles each time, to at most an hour, until a day has passed. */
export function afterSending(
  { attempts, giveUpAt }: Pick<DueAlarm, "attempts" | "giveUpAt">,
  problem: string | undefined,
  now: Date,
): AfterSending {
  if (problem === undefined) return { state: "delivered" };
  const waitMs = Math.min(longestWaitMs, firstWaitMs * 2 ** (attempts - 1));
  const at = new Date(now.getTime() + waitMs);
  return at > giveUpAt ? { state: "failed", problem } : { state: "pending", at, problem };
}
