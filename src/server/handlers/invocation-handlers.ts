import { setTimeout } from "node:timers/promises";
import { placesOf } from "#access/places-of.ts";
import { requireGrant } from "#access/require-grant.ts";
import type { invocationEndpoints } from "#api/endpoints/invocation-endpoints.ts";
import type { InvocationDetail } from "#api/invocation.ts";
import { buildTiming } from "#api/time-build.ts";
import { traceOfBuild } from "#api/trace-build.ts";
import type { Db } from "#db/db.ts";
import { ExecutionId } from "#execution/execution.ts";
import { confirmationWaitMs } from "#execution/finishing/until-cancelled.ts";
import { readBuild } from "#invocations/build-events/build.store.ts";
import { printedLog } from "#invocations/build-events/build-log.store.ts";
import { cancelInvocation } from "#invocations/cancel-invocation.ts";
import { listMisses } from "#invocations/compare/list-misses.ts";
import { executionsOfInvocation } from "#invocations/operation.store.ts";
import { gatherActions } from "#invocations/pages/gather-actions.ts";
import { invocationRow } from "#invocations/pages/invocation-row.store.ts";
import { listActions } from "#invocations/pages/list-actions.ts";
import { invocationList } from "#invocations/pages/list-invocations.ts";
import { readInvocation } from "#invocations/pages/read-invocation.ts";
import { oldestOpenExecutions } from "#invocations/pages/requested-by.store.ts";
import { invocationWaiting } from "#invocations/pages/why-waiting.ts";
import { listTargets } from "#invocations/targets/list-targets.ts";
import { listTestAttempts } from "#invocations/targets/list-test-attempts.ts";
import { targetHistory } from "#invocations/targets/target-history.ts";
import type { Ticket } from "../change-feed.ts";
import { eventStream } from "../http/event-stream.ts";
import { logAnswer } from "../http/log-answer.ts";
import { logEvents, mostLogBytesPerEvent } from "../http/log-events.ts";
import { logPositionOf } from "../http/log-position.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import type { LogPiece } from "../log-piece.ts";
import { LogPages } from "../logs/log-pages.ts";
import { whyExecutionWaits } from "../why-execution-waits.ts";
import { found } from "./found.ts";
import type { HandlerServices } from "./handler-services.ts";

/** The most executions of an invocation that are read to find one that is still queued. */
const mostRequested = 20;

/** Tools send their output about once a second. */
const printedEveryMs = 1_000;

/** A tool's own id names an invocation within its project. */
interface InvocationAddress {
  readonly project: string;
  readonly id: string;
}

export function invocationHandlers(
  services: Pick<HandlerServices, "db" | "clock" | "queue" | "blobsOf">,
): HandlersFor<typeof invocationEndpoints> {
  const { db, clock, queue, blobsOf } = services;

  const whyInvocationWaits = async (
    reads: Db,
    address: InvocationAddress,
    { queued, executing }: { readonly queued: number; readonly executing: number },
  ): Promise<string | null> => {
    if (queued === 0 || executing > 0) return null;
    for (const id of await oldestOpenExecutions(reads, address, mostRequested)) {
      const reason = await whyExecutionWaits({ ...services, db: reads }, ExecutionId.parse(id));
      if (reason !== null) return invocationWaiting(queued, reason.sentence);
    }
    return null;
  };

  const invocation = async (reads: Db, address: InvocationAddress): Promise<InvocationDetail> => {
    const read = found(await readInvocation(reads, address, clock.now()), describe(address));
    return { ...read, waiting: await whyInvocationWaits(reads, address, read.counts) };
  };

  const log = async (
    address: InvocationAddress,
    offset: number,
    most: number,
  ): Promise<LogPiece> => {
    const { project, id } = address;
    found(await invocationRow(db, address), describe(address));
    // The end of the build is read first: output that arrives between the two reads is then only found early.
    const build = await readBuild(db, { project, invocation: id });
    const printed = await printedLog(db, project, id, offset, most);
    const isOver = build === undefined || build.complete || build.finishedAt !== null;
    return { ...printed, complete: isOver && printed.bytes.length === 0, attempt: 1 };
  };

  const logPages = new LogPages();
  const reader = (address: InvocationAddress) => (offset: number, most: number) =>
    log(address, offset, most);

  return {
    invocations({ query: { project, commit, before, limit }, caller, reads }) {
      const places = placesOf(caller, ["read"]);
      return invocationList(reads, { project, commit, before, limit, places }, clock.now());
    },

    invocation: ({ params, query, reads }) => invocation(reads, addressOf(params, query)),

    async invocationActions({ params, query, reads }) {
      const address = addressOf(params, query);
      found(await invocationRow(reads, address), describe(address));
      const { state, text, after, limit } = query;
      const withoutHits = query.hits === "folded";
      const listing = { ...address, state, withoutHits, text, after, limit };
      return reads.transaction((tx) => listActions(tx, listing));
    },

    async invocationTiming({ params, query, reads }) {
      const address = addressOf(params, query);
      found(await invocationRow(reads, address), describe(address));
      const { actions, isCut } = await gatherActions(reads, address);
      return buildTiming(actions, isCut);
    },

    async invocationTrace({ params, query, reads }) {
      const address = addressOf(params, query);
      found(await invocationRow(reads, address), describe(address));
      const { actions } = await gatherActions(reads, address);
      return traceOfBuild(address.id, actions);
    },

    async invocationMisses({ params, query }) {
      const address = addressOf(params, query);
      found(await invocationRow(db, address), describe(address));
      const { after, limit } = query;
      const blobs = blobsOf(address.project);
      return listMisses({ db, blobs }, address, { after, limit });
    },

    async invocationTargets({ params, query, reads }) {
      const address = addressOf(params, query);
      found(await invocationRow(reads, address), describe(address));
      const { state, text, after, limit } = query;
      return listTargets(reads, address, { state, text, after, limit });
    },

    async invocationTests({ params, query, reads }) {
      const address = addressOf(params, query);
      found(await invocationRow(reads, address), describe(address));
      const blobs = blobsOf(address.project);
      return listTestAttempts({ db: reads, blobs }, address, query.label);
    },

    async targetHistory({ query, reads }) {
      return { label: query.label, builds: await targetHistory(reads, query) };
    },

    async invocationLog({ params, query, context }) {
      const { offset } = logPositionOf(context);
      const { limit } = query;
      return logAnswer(context, await log(addressOf(params, query), offset, limit), limit);
    },

    invocationLogIndex({ params, query }) {
      const address = addressOf(params, query);
      return logPages.index(`${address.project} ${address.id}`, reader(address));
    },

    invocationLogSearch({ params, query, context }) {
      const address = addressOf(params, query);
      const key = `${address.project} ${address.id}`;
      return logPages.search(key, reader(address), query, context.req.raw.signal);
    },

    invocationLogEvents({ params, query, context }) {
      const address = addressOf(params, query);
      const read = (offset: number) => log(address, offset, mostLogBytesPerEvent);
      const from = logPositionOf(context);
      return eventStream(context, lookingAgain(printedEveryMs), logEvents(read, from));
    },

    async cancelInvocation({ params, query, caller: by }) {
      const address = addressOf(params, query);
      requireGrant(by, "cancel", { repository: address.project, branch: "" });
      const named = { project: address.project, invocation: address.id };
      await cancelInvocation(db, queue, named, { principal: by.name, now: clock.now() });
      const executions = await executionsOfInvocation(db, named);
      const open = await queue.untilCancelled(executions, confirmationWaitMs);
      const unconfirmed = open.map(({ of, worker }) => ({ execution: of, worker }));
      return { ...(await invocation(db, address)), unconfirmed };
    },
  };
}

function addressOf(
  { invocation }: { readonly invocation: string },
  { project }: { readonly project: string },
): InvocationAddress {
  return { project, id: invocation };
}

function describe({ project, id }: InvocationAddress): string {
  return `invocation "${id}" in project "${project}"`;
}

/** Returns a ticket for changes without notifications: its holder reads again after a while. */
function lookingAgain(everyMs: number): Ticket {
  return {
    async changed(withinMs, signal) {
      // A client that disconnects needs no answer.
      await setTimeout(Math.min(everyMs, withinMs), undefined, { signal }).catch(() => {});
      return true;
    },
    drop() {},
  };
}
