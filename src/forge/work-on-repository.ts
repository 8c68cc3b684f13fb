import { Fault, messageOf } from "#core/fault.ts";
import { endDeliveries, postponeDeliveries, waitingDeliveries } from "./delivery.store.ts";
import type { Forge } from "./forge.ts";
import { type ForgeServices, forgeFor } from "./forge-services.ts";
import {
  type Holding,
  keepHolding,
  releaseHeldRepository,
  takeRepository,
} from "./holding.store.ts";
import { makeWhatIsMissing } from "./make-what-is-missing.ts";
import { readRepository } from "./read-repository.ts";
import { findWatched, type WatchedRepository } from "./repository.store.ts";
import { whatToRead } from "./what-to-read.ts";
import { tryAgainInMs } from "./when-to-try-again.ts";

/** Deliveries that arrive meanwhile are read with the next; one reading serves them all. */
const mostDeliveries = 500;
/** After this many failures, the next full reading covers the rest. */
const mostAttempts = 12;

/** Processes one repository that has pending work. Returns false when there is none. */
export async function workOnNext(
  services: ForgeServices,
  holder: string,
  stopping: AbortSignal,
): Promise<boolean> {
  const { db, clock, times, logger } = services;
  const untilOf = () => new Date(clock.now().getTime() + times.leaseMs);
  const holding = await takeRepository(db, { holder, now: clock.now(), until: untilOf() });
  if (holding === undefined) return false;

  const lost = new AbortController();
  const signal = AbortSignal.any([stopping, lost.signal]);
  const lose = () =>
    lost.abort(new Fault("aborted", "another server may have taken the repository"));
  let keptAt = Date.now();
  const beat = setInterval(() => {
    if (Date.now() - keptAt >= times.leaseMs) lose();
    const requestedAt = Date.now();
    keepHolding(db, holding, untilOf()).then(
      (isOurs) => {
        if (isOurs) keptAt = requestedAt;
        else lose();
      },
      (reason: unknown) => logger.warn({ reason: messageOf(reason) }, "a lease was not renewed"),
    );
  }, times.leaseMs / 3);
  beat.unref();
  try {
    const repository = await findWatched(db, holding.repository);
    if (repository !== undefined) await workOn(services, repository, holding, signal);
  } catch (reason) {
    // The current holder continues, or the next start does.
    if (!signal.aborted) throw reason;
    await releaseHeldRepository(db, holding, {
      reconciledAt: undefined,
      nextAt: undefined,
      error: undefined,
    }).catch(() => {});
  } finally {
    clearInterval(beat);
  }
  return true;
}

async function workOn(
  services: ForgeServices,
  repository: WatchedRepository,
  holding: Holding,
  signal: AbortSignal,
): Promise<void> {
  const { db, clock, chance, logger } = services;
  const beganAt = clock.now();
  const isDue = repository.nextAt <= beganAt;
  const deliveries = await waitingDeliveries(db, repository, beganAt, mostDeliveries);
  const ids = deliveries.map(({ id }) => id);
  const hints = deliveries.map(({ content }) => content);
  const isFull = isDue || repository.reconciledAt === null;
  const inMs = (ms: number) => new Date(clock.now().getTime() + ms);
  const again = (reason: unknown) => tryAgainInMs(repository.failures, reason, chance());

  try {
    const forge = forgeFor(services.forges, repository.kind);
    await readRepository(
      services,
      { repository, forge, holding, signal },
      whatToRead(hints, isFull),
      hints,
    );
    signal.throwIfAborted();
    const troubles = await makeWhatIsMissing(services, { repository, forge, holding, signal });
    await endDeliveries(db, repository.kind, ids, clock.now());
    const [trouble] = troubles;
    if (trouble !== undefined) tell(trouble);
    const periodMs = periodOf(services, repository, forge);
    await releaseHeldRepository(db, holding, {
      reconciledAt: isFull ? beganAt : undefined,
      nextAt:
        trouble !== undefined
          ? inMs(Math.min(periodMs, again(trouble)))
          : isFull
            ? inMs(periodMs)
            : undefined,
      error: trouble && messageOf(trouble),
    });
  } catch (reason) {
    signal.throwIfAborted();
    tell(reason);
    const nextAt = inMs(again(reason));
    const error = messageOf(reason);
    const put = { error, now: clock.now(), nextAt, mostAttempts };
    await postponeDeliveries(db, repository.kind, ids, put);
    await releaseHeldRepository(db, holding, {
      reconciledAt: undefined,
      nextAt: isDue ? nextAt : undefined,
      error,
    });
  }

  function tell(reason: unknown): void {
    logger.warn(
      { repository: repository.name, reason: messageOf(reason) },
      "a watched repository could not be dealt with; trying again",
    );
  }
}

/** Returns how often all of a repository is compared with its forge, in milliseconds: less often if webhooks arrive. */
function periodOf(
  { times }: ForgeServices,
  { policy }: WatchedRepository,
  { webhooks }: Forge,
): number {
  return policy.pollMs ?? (webhooks === undefined ? times.pollMs : times.reconcileMs);
}
