import type { Clock } from "#core/clock.ts";
import { Fault, messageOf } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import type { Forge, ForgeSlug } from "../forge.ts";
import { afterFailure } from "./after-failure.ts";
import {
  keepLease,
  type LeasedRow,
  leaseNext,
  nextSending,
  putOff,
  recordFailure,
  recordSent,
  repositoriesToSend,
  want,
} from "./outbox.store.ts";
import { outboxKey } from "./outbox-content.ts";
import { type SentRow, sendRow } from "./send-row.ts";

export interface OutboxServices {
  readonly db: Db;
  readonly clock: Clock;
  /** In [0, 1): for waiting times. */
  readonly jitter: () => number;
  /** The place of a repository; undefined when it is no longer watched. */
  forgeOf(
    repository: string,
  ): Promise<{ readonly forge: Forge; readonly slug: ForgeSlug } | undefined>;
  /** Logs failures, and rows that were given up. */
  readonly log: (sentence: string, fields: Readonly<Record<string, unknown>>) => void;
  readonly times?: Partial<OutboxTimes> | undefined;
}

interface OutboxTimes {
  /** The length of a lease on a row; its sender renews it three times within this time. */
  readonly leaseMs: number;
  /**
   * After this time, the forge has aborted any request of another server that may have written the same, so all
   * duplicates are visible.
   */
  readonly settleMs: number;
}

const defaultOutboxTimes: OutboxTimes = { leaseMs: 30_000, settleMs: 120_000 };

interface SentOutbox {
  /** Rows that were sent, in this pass. */
  readonly sent: number;
  /** The known time of the next sending; undefined: nothing waits. */
  readonly nextAt: Date | undefined;
}

/** How many repositories are handled at the same time; they wait for the network. */
const beside = 8;
/** How many rows of one repository are sent before others have their turn. */
const mostInARow = 50;

/** Sends all due rows once: repositories in parallel, each in order. Any number of servers may do so. */
export async function sendOutbox(
  services: OutboxServices,
  signal?: AbortSignal,
): Promise<SentOutbox> {
  const { db, clock } = services;
  const repositories = await repositoriesToSend(db, clock.now(), beside);
  const counts = await Promise.all(
    repositories.map((repository) => sendOf(services, repository, signal)),
  );
  const sent = counts.reduce((sum, count) => sum + count, 0);
  return { sent, nextAt: await nextSending(db) };
}

async function sendOf(
  services: OutboxServices,
  repository: string,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { db, clock } = services;
  const leaseMs = services.times?.leaseMs ?? defaultOutboxTimes.leaseMs;
  let sent = 0;
  for (let i = 0; i < mostInARow && signal?.aborted !== true; i += 1) {
    const now = clock.now();
    const row = await db.transaction((tx) =>
      leaseNext(tx, repository, now, new Date(now.getTime() + leaseMs)),
    );
    if (row === undefined) break;
    if (await sendLeased(services, row, leaseMs)) sent += 1;
  }
  return sent;
}

/** Sends a row and records the result. */
async function sendLeased(
  services: OutboxServices,
  row: LeasedRow,
  leaseMs: number,
): Promise<boolean> {
  const { db, clock, log } = services;
  const lease = holdLease(services, row, leaseMs);
  let hasTried = false;
  try {
    const place = await services.forgeOf(row.repository);
    if (place === undefined) throw new Fault("failed_precondition", "it is no longer watched");
    const done = await sendRow(
      {
        ...place,
        beforeMaking() {
          lease.require();
          hasTried = true;
        },
      },
      row,
    );
    await recordDone(services, row, done);
    return true;
  } catch (reason) {
    const { isForGood, waitMs, isBusy } = afterFailure(reason, row.attempts, services.jitter());
    const now = clock.now();
    const nextAt = new Date(now.getTime() + waitMs);
    const error = messageOf(reason);
    // A failed write may have succeeded, regardless of the response: a gateway's 503 also has a retry time.
    const isUnsettled = row.wasUnsettled || hasTried;
    await db.transaction(async (tx) => {
      await recordFailure(tx, row, { error, isUnsettled, nextAt, isForGood, now });
      if (isBusy) await putOff(tx, row.repository, nextAt);
    });
    log(isForGood ? "a forge refused a report" : "a forge did not accept a report", {
      repository: row.repository,
      key: row.key,
      attempts: row.attempts + 1,
      reason: error,
    });
    return false;
  } finally {
    lease.stop();
  }
}

async function recordDone(
  { db, clock, times }: OutboxServices,
  row: LeasedRow,
  { remoteId, superfluous }: SentRow,
): Promise<void> {
  const { repository, content, wasUnsettled } = row;
  await db.transaction(async (tx) => {
    const now = clock.now();
    const settleMs = times?.settleMs ?? defaultOutboxTimes.settleMs;
    const lookAgainAt = wasUnsettled ? new Date(now.getTime() + settleMs) : null;
    // The new holder will search for what this server wrote.
    if (!(await recordSent(tx, row, { remoteId, lookAgainAt }))) return;
    if (content.kind !== "comment") return;
    for (const node of superfluous) {
      const wanted = { kind: "minimise", pull: content.pull, node } as const;
      await want(tx, repository, outboxKey({ kind: "minimise", node }), wanted, now);
    }
  });
}

/** Renews a lease while its row is sent, because a forge may require a longer wait than a lease. */
function holdLease({ db, clock, log }: OutboxServices, row: LeasedRow, leaseMs: number) {
  // The machine's own clock, which shows the duration of a suspension.
  let keptAt = performance.now();
  let isLost = false;
  const beat = setInterval(() => {
    const requestedAt = performance.now();
    keepLease(db, row, new Date(clock.now().getTime() + leaseMs)).then(
      (isOurs) => {
        if (isOurs) keptAt = requestedAt;
        else isLost = true;
      },
      (reason: unknown) => log("a lease was not renewed", { reason: messageOf(reason) }),
    );
  }, leaseMs / 3);
  beat.unref();
  return {
    require() {
      if (isLost || performance.now() - keptAt >= leaseMs) {
        throw new Fault("aborted", "another server sends this now");
      }
    },
    stop: () => clearInterval(beat),
  };
}
