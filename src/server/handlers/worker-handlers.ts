import { recordAudit } from "#access/audit.store.ts";
import type { Principal } from "#access/principal.ts";
import type { workerEndpoints } from "#api/endpoints/worker-endpoints.ts";
import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import { addDrain, type Drain, listDrains, removeDrain } from "#execution/claiming/drain.store.ts";
import { eventStream } from "../http/event-stream.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import { workersForPage } from "../list-workers.ts";
import { traceOfTimeline } from "../trace-timeline.ts";
import { readWorkerTimeline } from "../worker-timeline.ts";
import type { HandlerServices } from "./handler-services.ts";

/** Each change of drains leaves an entry in the audit. */
export function workerHandlers({
  db,
  clock,
  queue,
  feeds,
}: HandlerServices): HandlersFor<typeof workerEndpoints> {
  const workers = () => workersForPage(db, clock.now(), queue.times.leaseMs);
  const timeline = (
    reads: Db,
    { minutes, limit }: { readonly minutes: number; readonly limit: number },
  ) =>
    readWorkerTimeline(reads, {
      now: clock.now(),
      leaseMs: queue.times.leaseMs,
      backMs: minutes * 60_000,
      mostRuns: limit,
    });
  const drains = async () => (await listDrains(db)).map(forPage);
  const audited = (by: Principal, detail: Readonly<Record<string, unknown>>) => ({
    actor: by.name,
    verb: "administer" as const,
    detail,
  });

  return {
    workers,

    workerEvents({ context }) {
      let sent = "";
      return eventStream(context, feeds.executions.ticket(""), async () => {
        const now = await workers();
        const text = JSON.stringify(now);
        const changed = text !== sent;
        sent = text;
        return { events: changed ? [{ data: now }] : [], over: false };
      });
    },

    workerTimeline: ({ query, reads }) => timeline(reads, query),

    async workerTrace({ query, context, reads }) {
      const trace = traceOfTimeline(await timeline(reads, query));
      context.header("content-disposition", 'attachment; filename="grange-workers.trace.json"');
      return context.json(trace);
    },

    drains,

    async addDrain({ body: { pattern, reason }, caller: by }) {
      await db.transaction(async (tx) => {
        await addDrain(tx, { pattern, reason, createdBy: by.name, createdAt: clock.now() });
        await recordAudit(tx, audited(by, { what: "drain workers", pattern, reason }));
      });
      return drains();
    },

    async removeDrain({ body: { pattern }, caller: by }) {
      await db.transaction(async (tx) => {
        if (!(await removeDrain(tx, pattern))) {
          const message = `there is no drain "${pattern}"; \`grange drain\` lists them`;
          throw new Fault("not_found", message);
        }
        await recordAudit(tx, audited(by, { what: "end drain", pattern }));
      });
      return drains();
    },
  };
}

function forPage({ createdAt, ...drain }: Drain) {
  return { ...drain, createdAt: createdAt.toISOString() };
}
