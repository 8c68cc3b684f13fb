import type { Logger } from "pino";
import type { Clock } from "#core/clock.ts";
import type { Db } from "#db/db.ts";
import { alarmSender, type SendAlarm } from "#perf/alarms/send-alarms.ts";
import { examineNext } from "#perf/history/examine-artifact.ts";
import { silenceWatch } from "#perf/jobs/silence-watch.ts";
import type { LabTimes } from "#perf/lab-times.ts";
import type { PeriodicTask } from "./periodic-tasks.ts";

/** Watches collectors and series of the benchmark lab. */
export function labTasks(parts: {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly labTimes: LabTimes;
  /** Undefined: alarms are not sent anywhere. */
  readonly sendAlarm?: SendAlarm | undefined;
}): PeriodicTask[] {
  const { db, clock, logger, labTimes, sendAlarm } = parts;
  return [
    {
      name: "take benchmark jobs from collectors that stopped responding",
      everyMs: labTimes.pollMs,
      staysOnTime: true,
      run: silenceWatch({ db, clock, logger, times: labTimes }),
    },
    ...(sendAlarm === undefined
      ? []
      : [
          {
            name: "send alarms of the benchmark lab",
            everyMs: 5_000,
            staysOnTime: true as const,
            run: alarmSender({ db, clock, logger, send: sendAlarm }),
          },
        ]),
    {
      name: "find change points in series with new results",
      everyMs: 5_000,
      async run() {
        while (await examineNext(db, clock.now()));
      },
    },
  ];
}
