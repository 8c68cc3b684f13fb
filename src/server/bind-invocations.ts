import { setTimeout } from "node:timers/promises";
import { requireGrant } from "#access/require-grant.ts";
import type { WaitingReason } from "#api/waiting.ts";
import type { ExecutionId } from "#execution/execution.ts";
import { ExecutionId as Id } from "#execution/execution.ts";
import { queuePosition } from "#execution/queue-position.store.ts";
import { confirmationWaitMs } from "#execution/until-cancelled.ts";
import { type WaitingNames, whyQueued } from "#graphs/times/why-queued.ts";
import { readBuild } from "#invocations/build-events/build.store.ts";
import { printedLog } from "#invocations/build-events/build-log.store.ts";
import { cancelInvocation } from "#invocations/cancel-invocation.ts";
import { executionsOfInvocation } from "#invocations/operation.store.ts";
import { invocationRow } from "#invocations/pages/invocation-row.store.ts";
import { listActions } from "#invocations/pages/list-actions.ts";
import { invocationList } from "#invocations/pages/list-invocations.ts";
import { listTree } from "#invocations/pages/list-tree.ts";
import { readExecution } from "#invocations/pages/read-execution.ts";
import { readInvocation } from "#invocations/pages/read-invocation.ts";
import { oldestOpenExecutions } from "#invocations/pages/requested-by.store.ts";
import { invocationWaiting } from "#invocations/pages/why-waiting.ts";
import { declaredOffers } from "#size-classes/declared-classes.ts";
import type { Ticket } from "./change-feed.ts";
import { readExecutionLog } from "./execution-log.ts";
import type { Feeds } from "./handlers/handler-services.ts";
import type { InvocationAddress, InvocationFarm } from "./http/invocation-farm.ts";
import type { Services } from "./services.ts";

const ofActions: WaitingNames = {
  one: "action",
  whole: "invocation",
  again: "cancel it, and build again",
};

/** Of what an invocation waits for, so many are looked at for one that is still in the queue. */
const mostRequested = 20;

/** Tools send what they print about once a second. */
const printedEveryMs = 1_000;

/** A ticket for what nobody is told of: its holder looks again after a while. */
function lookingAgain(everyMs: number): Ticket {
  return {
    async changed(withinMs, signal) {
      // Whoever leaves wants no answer.
      await setTimeout(Math.min(everyMs, withinMs), undefined, { signal }).catch(() => {});
    },
    drop() {},
  };
}

/** Build tools' invocations, their executions, and blobs. */
export function bindInvocations(
  services: Pick<Services, "db" | "blobsOf" | "clock" | "queue">,
  feeds: Pick<Feeds, "logs">,
): InvocationFarm {
  const { db, blobsOf, clock, queue } = services;

  const whyExecutionWaits = async (id: ExecutionId): Promise<WaitingReason | null> => {
    const now = clock.now();
    const position = await db.transaction((tx) => queuePosition(tx, id, now, queue.times));
    if (position === undefined) return null;
    return whyQueued(position, now, ofActions, await declaredOffers(db));
  };

  const whyInvocationWaits = async (
    address: InvocationAddress,
    { queued, executing }: { readonly queued: number; readonly executing: number },
  ): Promise<string | null> => {
    if (queued === 0 || executing > 0) return null;
    for (const id of await oldestOpenExecutions(db, address, mostRequested)) {
      const reason = await whyExecutionWaits(Id.parse(id));
      if (reason !== null) return invocationWaiting(queued, reason.sentence);
    }
    return null;
  };

  const invocation: InvocationFarm["invocation"] = async (address) => {
    const read = await readInvocation(db, address, clock.now());
    if (read === undefined) return undefined;
    return { ...read, waiting: await whyInvocationWaits(address, read.counts) };
  };

  return {
    invocations: (query) => invocationList(db, query, clock.now()),
    invocation,

    async invocationActions(query) {
      const { project, id } = query;
      if ((await invocationRow(db, { project, id })) === undefined) return undefined;
      return db.transaction((tx) => listActions(tx, query));
    },

    async invocationLog(address, offset, most) {
      const { project, id } = address;
      if ((await invocationRow(db, address)) === undefined) return undefined;
      // First whether it is over: what is printed between the two is then only found early.
      const build = await readBuild(db, { project, invocation: id });
      const printed = await printedLog(db, project, id, offset, most);
      const isOver = build === undefined || build.complete || build.finishedAt !== null;
      return { ...printed, complete: isOver && printed.bytes.length === 0, attempt: 1 };
    },

    invocationLogChanges: () => lookingAgain(printedEveryMs),

    async cancelInvocation(address, by) {
      requireGrant(by, "cancel", { repository: address.project, branch: "" });
      const { project, id } = address;
      const now = clock.now();
      await cancelInvocation(db, queue, { project, invocation: id }, { principal: by.name, now });
      const executions = await executionsOfInvocation(db, { project, invocation: id });
      const open = await queue.untilCancelled(executions, confirmationWaitMs);
      const read = await invocation(address);
      const unconfirmed = open.map(({ of, worker }) => ({ execution: of, worker }));
      return read && { ...read, unconfirmed };
    },

    async execution(id) {
      const executionId = Id.parse(id);
      const read = await readExecution(services, executionId);
      if (read === undefined) return undefined;
      const waits = read.startedAt === null && read.finishedAt === null;
      return { ...read, waiting: waits ? await whyExecutionWaits(executionId) : null };
    },
    executionLog: (id, stream, offset, most) =>
      readExecutionLog(services, Id.parse(id), stream, offset, most),
    executionLogChanges: (id) => feeds.logs.ticket(id),

    readBlob: (project, digest) => blobsOf(project).read(digest),
    listTree: (project, digest) => listTree(blobsOf(project), digest),
  };
}
