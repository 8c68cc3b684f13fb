import { messageOf } from "#core/fault.ts";
import {
  deliveriesThatCame,
  deliveryMark,
  endUnwatchedDeliveries,
  forgetDeliveries,
  forgetRedeliveries,
  moveDeliveryMark,
  noteRedelivery,
} from "./delivery.store.ts";
import type { ForgeServices } from "./forge-services.ts";
import type { ForgeDelivery, ForgeRedeliveries } from "./webhooks/forge-webhooks.ts";

const hourMs = 60 * 60_000;
/**
 * The period that the first check covers. Older deliveries are covered by the next full reading of the repositories.
 */
const firstBackMs = 6 * hourMs;
/** The forge's times have whole seconds, and its list may be delayed. */
const overlapMs = 2 * 60_000;
/** A younger delivery may still be in progress. */
const settledMs = 60_000;
const mostAtOnce = 100;
const keepDeliveriesMs = 7 * 24 * hourMs;

/**
 * Returns the deliveries that the forge sent, that never arrived here, and that were not successfully sent again. Pure.
 */
export function neverTaken(
  sent: readonly ForgeDelivery[],
  came: ReadonlySet<string>,
  before: Date,
): ForgeDelivery[] {
  const taken = new Set(sent.filter(({ wasTaken }) => wasTaken).map(({ guid }) => guid));
  const chosen = new Set<string>();
  return sent.filter(({ guid, event, deliveredAt }) => {
    if (taken.has(guid) || came.has(guid) || chosen.has(guid)) return false;
    if (deliveredAt >= before || event === "ping") return false;
    chosen.add(guid);
    return true;
  });
}

/** Returns the time from which the list is read: the end of the previous check, limited to the forge's record. Pure. */
export function readFrom(mark: Date | undefined, now: Date, keptMs: number): Date {
  const before = mark === undefined ? -firstBackMs : mark.getTime() - now.getTime() - overlapMs;
  return new Date(now.getTime() + Math.max(before, -keptMs));
}

/**
 * Returns the time up to which all deliveries were checked, if only the oldest missing ones were requested again. Pure.
 *
 * The next check begins before this time and requests the rest.
 */
export function readUntil(
  missing: readonly Pick<ForgeDelivery, "deliveredAt">[],
  requested: number,
  settled: Date,
): Date {
  const left = missing.map(({ deliveredAt }) => deliveredAt.getTime()).toSorted((a, b) => a - b);
  return new Date(Math.min(settled.getTime(), left[requested] ?? Number.POSITIVE_INFINITY));
}

/** Requests redelivery of webhooks that never arrived, once each; each full reading reads the state itself anyway. */
export async function askForRedeliveries(services: ForgeServices): Promise<number> {
  const outcomes = await Promise.allSettled(
    services.forges.map(async ({ kind, webhooks }) =>
      webhooks?.redeliveries === undefined
        ? 0
        : askForgeForRedeliveries(services, kind, webhooks.redeliveries),
    ),
  );
  const failed = outcomes.find((each) => each.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return outcomes.reduce((sum, each) => sum + (each.status === "fulfilled" ? each.value : 0), 0);
}

async function askForgeForRedeliveries(
  { db, clock, logger }: ForgeServices,
  kind: string,
  forge: ForgeRedeliveries,
): Promise<number> {
  const now = clock.now();
  const settled = new Date(now.getTime() - settledMs);
  const sent = await forge.list(readFrom(await deliveryMark(db, kind), now, forge.keptMs));
  const came = await deliveriesThatCame(
    db,
    kind,
    sent.map(({ guid }) => guid),
  );
  const missing = neverTaken(sent, came, settled).toSorted(
    (a, b) => a.deliveredAt.getTime() - b.deliveredAt.getTime(),
  );
  let looked = 0;
  let tries = 0;
  let requested = 0;
  for (const { id, guid } of missing) {
    if (tries === mostAtOnce) break;
    looked += 1;
    if (!(await noteRedelivery(db, { kind, id: guid }, clock.now()))) continue;
    tries += 1;
    try {
      await forge.redeliver(id);
      requested += 1;
    } catch (reason) {
      logger.warn(
        { delivery: guid, reason: messageOf(reason) },
        "a webhook could not be requested again",
      );
    }
  }
  await moveDeliveryMark(db, kind, readUntil(missing, looked, settled));
  return requested;
}

/** Ends deliveries for unknown repositories, and deletes those that ended long ago. */
export async function tidyDeliveries({ db, clock }: ForgeServices): Promise<void> {
  const now = clock.now();
  const before = new Date(now.getTime() - keepDeliveriesMs);
  await endUnwatchedDeliveries(db, now);
  while ((await forgetDeliveries(db, before)) > 0);
  await forgetRedeliveries(db, before);
}
