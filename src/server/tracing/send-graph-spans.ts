import type { Logger } from "pino";
import { messageOf } from "#core/fault.ts";
import type { IdleState } from "#core/idle-state.ts";
import { startPacedTimer } from "#core/paced-timer.ts";
import type { Service } from "#core/service.ts";
import type { Db } from "#db/db.ts";
import { takeEndedGraphSpans } from "#graphs/graph-span.store.ts";
import type { Tracing } from "#tracing/tracing.ts";
import { spansOfGraph } from "./spans-of-graph.ts";

/** A backup for notifications that are lost, in ms. */
const pollMs = 10_000;
const mostAtOnce = 20;

/**
 * Records the spans of graphs when they have ended, whatever ended them and on whichever server. Each graph is recorded
 * by one server.
 */
export async function sendGraphSpans(parts: {
  readonly db: Db;
  readonly logger: Logger;
  readonly idle: IdleState;
  readonly tracing: Pick<Tracing, "record">;
}): Promise<Service> {
  const { db, logger, tracing } = parts;
  let isDue = false;
  let isStopped = false;
  let working: Promise<void> | undefined;

  const work = async () => {
    // Notifications that arrive meanwhile cause one further round.
    while (isDue && !isStopped) {
      isDue = false;
      try {
        const graphs = await takeEndedGraphSpans(db, mostAtOnce);
        for (const span of graphs.flatMap(spansOfGraph)) tracing.record(span);
        if (graphs.length === mostAtOnce) isDue = true;
      } catch (reason) {
        logger.warn({ reason: messageOf(reason) }, "the spans of graphs could not be read");
      }
    }
    working = undefined;
  };
  const look = () => {
    isDue = true;
    working ??= work();
  };
  const listening = await db.listen("grange_graph", look);
  const endPoll = startPacedTimer(pollMs, parts.idle, look);
  look();

  return {
    async stop() {
      isStopped = true;
      endPoll();
      await listening.stop();
      await working;
    },
  };
}
