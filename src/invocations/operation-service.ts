import type { Logger } from "pino";
import type { Clock } from "#core/clock.ts";
import { coalescer } from "#core/coalescer.ts";
import { Fault, messageOf } from "#core/fault.ts";
import type { Service } from "#core/service.ts";
import type { Db } from "#db/db.ts";
import { withCommit } from "#db/with-commit.ts";
import type { ExecutionId, ExecutionRequest } from "#execution/execution.ts";
import type { ExecutionQueue } from "#execution/execution-queue.ts";
import type { ExecutionView } from "#execution/read-executions.store.ts";
import type { Asking } from "./asking.ts";
import { cancelOperations } from "./cancel-operations.ts";
import {
  abandonedOperations,
  cancelledAmong,
  findOperation,
  insertOperations,
  insertWantedOperations,
  keepWatched,
  operationChannel,
  operationsOfCancelled,
  type StoredOperation,
} from "./operation.store.ts";
import type { OperationId } from "./operation.ts";
import { type OperationTimes, usualOperationTimes, watchedUntil } from "./operation-times.ts";
import { endedBecause } from "./unserved-operations.store.ts";
import { operationsIn, watchedOperations } from "./watched-operations.ts";

/** What an operation's listeners are told. */
export type OperationUpdate =
  | { readonly kind: "execution"; readonly view: ExecutionView }
  /** By a client or a person; or by the farm, which says why. */
  | { readonly kind: "cancelled"; readonly because: string | undefined };

interface RequestedExecution {
  readonly id: OperationId;
  readonly request: ExecutionRequest;
  readonly asking: Asking;
}

/** An operation that has been written down. */
export interface OpenOperation {
  readonly id: OperationId;
  readonly executionId: ExecutionId;
  /** Opened just now: nobody knows its name yet who could have cancelled it. */
  readonly isNew?: boolean;
  /** How its execution stood when it was opened, if it was new, too. */
  readonly first?: ExecutionView | undefined;
}

/** Operations as one server sees them. Any number of servers share one database. */
export interface OperationService extends Service {
  /** Resolves when the operation is durable, and what executes it; "refused" when its invocation was cancelled. */
  open(asked: RequestedExecution): Promise<OpenOperation | "refused">;
  find(id: OperationId): Promise<StoredOperation | undefined>;
  /** Says that somebody listens, or asked just now, and then how it stands. */
  attend(id: OperationId): Promise<StoredOperation | undefined>;
  /** The operation as it stands, then again after each change, until it is over. */
  follow(operation: OpenOperation, signal: AbortSignal): AsyncGenerator<OperationUpdate, void>;
  /** Cancels this operation only; its execution goes on when somebody else wants it. */
  cancel(id: OperationId): Promise<void>;
  /** Cancels what nobody waits for any more. Any server may do it, as often as it likes. */
  sweep(): Promise<number>;
}

const perSweep = 500;
const perRenewal = 2_000;
/** A call that crosses the cancellation of its invocation is written down within that time. */
const crossingMs = 10 * 60_000;

export async function operationService(parts: {
  readonly db: Db;
  readonly queue: ExecutionQueue;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly times?: OperationTimes;
}): Promise<OperationService> {
  const { db, queue, clock, logger } = parts;
  const times = parts.times ?? usualOperationTimes;
  const watched = watchedOperations();
  const openedAt = clock.now().getTime();

  const opening = coalescer(async (asked: readonly RequestedExecution[]) => {
    const requests = await queue.chooseSizes(asked.map(({ request }) => request));
    let assumesWanted = true;
    const { opened, after } = await queue.transaction(async (tx) => {
      const now = clock.now();
      const submitted = await queue.submitIn(tx, requests);
      const rows = asked.map(({ id, asking, request }, i) => {
        const { executionId, isNew, queuedAt } = submitted[i] ?? missing(id);
        const { actionDigest } = request;
        const first = queuedAt && newlyQueued(request, queuedAt);
        return { id, executionId, asking, actionDigest, joined: !isNew, first };
      });
      const until = watchedUntil(now, times);
      if (assumesWanted) {
        // Nearly always so: then the executions are handed out, and all of it committed, in the same breath.
        assumesWanted = false;
        await withCommit(tx, insertWantedOperations(tx, rows, { now, watchedUntil: until }));
        return { opened: rows.map((row) => ({ ...row, isRefused: false })), after: undefined };
      }
      const refused = new Set(await insertOperations(tx, rows, { now, watchedUntil: until }));
      const unwanted = rows.flatMap(({ id, executionId }) => (refused.has(id) ? executionId : []));
      const after = unwanted.length === 0 ? undefined : await queue.cancel(tx, unwanted);
      const opened = rows.map((row) => ({ ...row, isRefused: refused.has(row.id) }));
      return { opened, after };
    });
    after?.();
    return opened.map(({ id, executionId, first, isRefused }) => {
      return { id, executionId, first, isRefused };
    });
  });

  const renew = async (ids: readonly OperationId[]): Promise<void> => {
    await keepWatched(db, ids, watchedUntil(clock.now(), times));
  };

  const renewAll = async (): Promise<void> => {
    const ids = watched.ids();
    for (let at = 0; at < ids.length; at += perRenewal) {
      const some = ids.slice(at, at + perRenewal);
      await renew(some);
      // The net under the notifications, should one be lost.
      watched.cancelled(await cancelledAmong(db, some));
    }
  };
  let renewing: Promise<void> | undefined;
  const renewal = setInterval(() => {
    renewing ??= renewAll()
      .catch((reason: unknown) => {
        logger.warn({ reason: messageOf(reason) }, "could not say which operations are watched");
      })
      .finally(() => (renewing = undefined));
  }, times.renewEveryMs);
  renewal.unref();

  const listener = await db.listen(operationChannel, (payload) =>
    watched.cancelled(operationsIn(payload)),
  );

  return {
    async open(asked) {
      const { isRefused, ...opened } = await opening.add(asked);
      return isRefused ? "refused" : { ...opened, isNew: true };
    },

    find: (id) => findOperation(db, id),

    async attend(id) {
      await renew([id]);
      return findOperation(db, id);
    },

    async *follow({ id, executionId, isNew = false, first }, signal) {
      const listening = watched.listen(id);
      const { cancelled } = listening;
      try {
        // Asked after listening, so that no cancellation falls between the two.
        if (!isNew) watched.cancelled(await cancelledAmong(db, [id]));
        const either = AbortSignal.any([signal, cancelled]);
        for await (const view of queue.follow(executionId, either, first)) {
          if (cancelled.aborted) break;
          // Told of the execution first: the reason is the operation's, written down in the same moment.
          const because =
            view.finished?.outcome === "cancelled" ? await endedBecause(db, id) : undefined;
          if (because !== undefined) {
            yield { kind: "cancelled", because };
            return;
          }
          yield { kind: "execution", view };
        }
      } catch (reason) {
        if (!cancelled.aborted) throw reason;
      } finally {
        listening.leave();
      }
      if (cancelled.aborted) yield { kind: "cancelled", because: await endedBecause(db, id) };
    },

    async cancel(id) {
      watched.cancelled(await cancelOperations(queue, [id], { now: clock.now() }));
    },

    async sweep() {
      const now = clock.now();
      const since = new Date(now.getTime() - crossingMs);
      const crossing = await operationsOfCancelled(db, since, perSweep);
      // After a time in which no server ran, clients have their grace to come back, too.
      const isGrace = now.getTime() - openedAt < times.graceMs;
      const unwatched = isGrace ? [] : await abandonedOperations(db, now, perSweep);
      // Should saying so be late, they are watched all the same.
      const abandoned = unwatched.filter((id) => !watched.has(id));
      const ended = [
        ...(await cancelOperations(queue, crossing, { now })),
        ...(await cancelOperations(queue, abandoned, { now, unwatchedSince: now })),
      ];
      watched.cancelled(ended);
      return ended.length;
    },

    async stop() {
      clearInterval(renewal);
      await listener.stop();
      await renewing;
      await opening.idle();
    },
  };
}

/** A worker may have it by then; until it says that it has begun, clients are told the same. */
function newlyQueued(
  { id, project, actionDigest }: ExecutionRequest,
  queuedAt: Date,
): ExecutionView {
  const state = { kind: "queued", queuedAt } as const;
  const notCancelled = { cancelRequested: false, cancelConfirmed: false };
  const finished = undefined;
  return { id, project, actionDigest, attempt: 0, ...notCancelled, queuedAt, state, finished };
}

function missing(id: OperationId): never {
  throw new Fault("internal", `nothing executes the operation ${id}`);
}
