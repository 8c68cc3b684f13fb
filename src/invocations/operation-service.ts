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
import { defaultOperationTimes, type OperationTimes, watchedUntil } from "./operation-times.ts";
import { endedBecause } from "./unserved-operations.store.ts";
import { operationsIn, watchedOperations } from "./watched-operations.ts";

/** An update for the listeners of an operation. */
export type OperationUpdate =
  | { readonly kind: "execution"; readonly view: ExecutionView }
  /** Cancelled by a client or a person, or by the server, which then states the reason. */
  | { readonly kind: "cancelled"; readonly because: string | undefined };

interface RequestedExecution {
  readonly id: OperationId;
  readonly request: ExecutionRequest;
  readonly asking: Asking;
}

/** An operation that is stored in the database. */
export interface OpenOperation {
  readonly id: OperationId;
  readonly executionId: ExecutionId;
  /** Whether it was just opened. No client knows its name yet, so it cannot be cancelled. */
  readonly isNew?: boolean;
  /** The state of its execution when both were new. */
  readonly first?: ExecutionView | undefined;
}

/** The operations of one server. Any number of servers share one database. */
export interface OperationService extends Service {
  /** Resolves when the operation and its execution are durable; "refused" when its invocation was cancelled. */
  open(request: RequestedExecution): Promise<OpenOperation | "refused">;
  find(id: OperationId): Promise<StoredOperation | undefined>;
  /** Records that a client listens or has just sent a request. Returns the operation. */
  attend(id: OperationId): Promise<StoredOperation | undefined>;
  /** Yields the state of the operation, again after each change, until it ends. */
  follow(operation: OpenOperation, signal: AbortSignal): AsyncGenerator<OperationUpdate, void>;
  /** Cancels only this operation. Its execution continues when another operation or run needs it. */
  cancel(id: OperationId): Promise<void>;
  /** Cancels operations that no client waits for. Any server may do this at any time. */
  sweep(): Promise<number>;
}

const perSweep = 500;
const perRenewal = 2_000;
/** A call that runs while its invocation is cancelled is stored within this time, in ms. */
const crossingMs = 10 * 60_000;

export async function operationService(parts: {
  readonly db: Db;
  readonly queue: ExecutionQueue;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly times?: OperationTimes;
}): Promise<OperationService> {
  const { db, queue, clock, logger } = parts;
  const times = parts.times ?? defaultOperationTimes;
  const watched = watchedOperations();
  const openedAt = clock.now().getTime();

  const opening = openingTogether({ queue, clock, times });

  const renew = async (ids: readonly OperationId[]): Promise<void> => {
    await keepWatched(db, ids, watchedUntil(clock.now(), times));
  };

  const renewAll = async (): Promise<void> => {
    const ids = watched.ids();
    for (let at = 0; at < ids.length; at += perRenewal) {
      const some = ids.slice(at, at + perRenewal);
      await renew(some);
      // Finds cancellations whose notification was lost.
      watched.cancelled(await cancelledAmong(db, some));
    }
  };
  let renewing: Promise<void> | undefined;
  const renewal = setInterval(() => {
    renewing ??= renewAll()
      .catch((reason: unknown) => {
        logger.warn({ reason: messageOf(reason) }, "watched operations could not be renewed");
      })
      .finally(() => (renewing = undefined));
  }, times.renewEveryMs);
  renewal.unref();

  const listener = await db.listen(operationChannel, (payload) =>
    watched.cancelled(operationsIn(payload)),
  );

  return {
    async open(request) {
      const { isRefused, ...opened } = await opening.add(request);
      return isRefused ? "refused" : { ...opened, isNew: true };
    },

    find: (id) => findOperation(db, id),

    async attend(id) {
      await renew([id]);
      return findOperation(db, id);
    },

    follow: (operation, signal) => followOperation({ db, queue, watched }, operation, signal),

    async cancel(id) {
      watched.cancelled(await cancelOperations(queue, [id], { now: clock.now() }));
    },

    async sweep() {
      const now = clock.now();
      const since = new Date(now.getTime() - crossingMs);
      const crossing = await operationsOfCancelled(db, since, perSweep);
      // After a time without a running server, clients get the grace period to reconnect.
      const isGrace = now.getTime() - openedAt < times.graceMs;
      const unwatched = isGrace ? [] : await abandonedOperations(db, now, perSweep);
      // This server may not have renewed in time the operations that it watches.
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

/**
 * Opens operations in batches: submits their executions and stores the operations in one transaction.
 *
 * The first attempt assumes that no invocation of the batch was cancelled, so that the transaction needs one round trip
 * less. When that is wrong the transaction fails and is repeated with a check.
 */
function openingTogether({
  queue,
  clock,
  times,
}: {
  readonly queue: ExecutionQueue;
  readonly clock: Clock;
  readonly times: OperationTimes;
}) {
  return coalescer(async (requested: readonly RequestedExecution[]) => {
    const requests = await queue.chooseSizes(requested.map(({ request }) => request));
    let assumesWanted = true;
    const { opened, after } = await queue.transaction(async (tx) => {
      const now = clock.now();
      const submitted = await queue.submitIn(tx, requests);
      const rows = requested.map(({ id, asking, request }, i) => {
        const { executionId, isNew, queuedAt } = submitted[i] ?? missing(id);
        const { actionDigest } = request;
        const first = queuedAt && newlyQueued(request, queuedAt);
        return { id, executionId, asking, actionDigest, joined: !isNew, first };
      });
      const until = watchedUntil(now, times);
      if (assumesWanted) {
        // The assumption is nearly always true. The operations are stored, and the executions leased, with the commit.
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
}

/** Yields the states of an operation, from now until its execution ends or it is cancelled. */
async function* followOperation(
  {
    db,
    queue,
    watched,
  }: {
    readonly db: Db;
    readonly queue: ExecutionQueue;
    readonly watched: ReturnType<typeof watchedOperations>;
  },
  { id, executionId, isNew = false, first }: OpenOperation,
  signal: AbortSignal,
): AsyncGenerator<OperationUpdate, void> {
  const listening = watched.listen(id);
  const { cancelled } = listening;
  try {
    // Read after listening has started, so that no cancellation is missed in between.
    if (!isNew) watched.cancelled(await cancelledAmong(db, [id]));
    const either = AbortSignal.any([signal, cancelled]);
    for await (const view of queue.follow(executionId, either, first)) {
      if (cancelled.aborted) break;
      // The update of the execution may arrive first; the reason was stored with the operation in the same transaction.
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
}

/** Returns the view of a newly queued execution. A worker may have leased it since; clients see that when it starts. */
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
