import type { Logger } from "pino";
import type { Clock } from "#core/clock.ts";
import type { Db } from "#db/db.ts";
import { drainChannel } from "#execution/claiming/drain.store.ts";
import { executionChannel, queueChannel } from "#execution/notify.store.ts";
import { outboxChannel } from "#forge/outbox/outbox.store.ts";
import { forgeChannel } from "#forge/repository.store.ts";
import { operationChannel } from "#invocations/operation.store.ts";
import { benchmarkChannel } from "#perf/channels.ts";
import { type IdleWatch, startIdleWatch } from "./idle-watch.ts";
import { hasOpenWorkBy } from "./open-work.store.ts";

/** Watches whether this farm is idle: all tables in which work can wait, and all notifications of changes. */
export function watchForIdleness(db: Db, clock: Clock, logger: Logger): Promise<IdleWatch> {
  return startIdleWatch({
    db,
    logger,
    channels: [
      "grange_graph",
      "grange_ready",
      "grange_errand",
      queueChannel,
      executionChannel,
      drainChannel,
      operationChannel,
      forgeChannel,
      outboxChannel,
      benchmarkChannel,
    ],
    hasOpenWork: (withinMs) => hasOpenWorkBy(db, new Date(clock.now().getTime() + withinMs)),
  });
}
