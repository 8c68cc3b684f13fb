import { messageOf } from "#core/fault.ts";
import {
  deliveriesThatCame,
  endStrangeDeliveries,
  forgetDeliveries,
  forgetRedeliveries,
  noteRedelivery,
} from "./delivery.store.ts";
import type { ForgeDelivery } from "./forge.ts";
import type { ForgeRooms } from "./forge-rooms.ts";

const hourMs = 60 * 60_000;
/** GitHub keeps what it sent for three days, and what is older is in the next look at everything anyway. */
const lookBackMs = 6 * hourMs;
/** It is still trying. */
const settledMs = 60_000;
const mostAtOnce = 100;
const keepDeliveriesMs = 7 * 24 * hourMs;

/** Of what a forge says that it sent, what never came here and was not sent again with success. Pure. */
export function neverTaken(
  sent: readonly ForgeDelivery[],
  came: ReadonlySet<string>,
  before: Date,
): ForgeDelivery[] {
  const taken = new Set(sent.filter(({ wasTaken }) => wasTaken).map(({ guid }) => guid));
  const asked = new Set<string>();
  return sent.filter(({ guid, event, deliveredAt }) => {
    if (taken.has(guid) || came.has(guid) || asked.has(guid)) return false;
    if (deliveredAt >= before || event === "ping") return false;
    asked.add(guid);
    return true;
  });
}

/** Has the forge send again what never came. Once each: the state itself is read by every look at everything. */
export async function askForRedeliveries(rooms: ForgeRooms): Promise<number> {
  const { db, clock, forges, logger } = rooms;
  if (forges.github === undefined) return 0;
  const now = clock.now().getTime();
  const sent = await forges.github.deliveries(new Date(now - lookBackMs));
  const came = await deliveriesThatCame(
    db,
    sent.map(({ guid }) => guid),
  );
  let asked = 0;
  for (const { id, guid } of neverTaken(sent, came, new Date(now - settledMs)).slice(-mostAtOnce)) {
    if (!(await noteRedelivery(db, guid, clock.now()))) continue;
    try {
      await forges.github.redeliver(id);
      asked += 1;
    } catch (reason) {
      logger.warn(
        { delivery: guid, reason: messageOf(reason) },
        "a webhook could not be asked for again",
      );
    }
  }
  return asked;
}

/** Ends what concerns nobody, and forgets what is long over. */
export async function tidyDeliveries({ db, clock }: ForgeRooms): Promise<void> {
  const now = clock.now();
  const before = new Date(now.getTime() - keepDeliveriesMs);
  await endStrangeDeliveries(db, now);
  while ((await forgetDeliveries(db, before)) > 0);
  await forgetRedeliveries(db, before);
}
