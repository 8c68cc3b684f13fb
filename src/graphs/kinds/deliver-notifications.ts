import type { Db } from "#db/db.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import {
  dropNotificationsOfEndedRuns,
  keepTold,
  type Notification,
  type Told,
  takeNotifications,
} from "./notification.store.ts";
import { sendToWebhook } from "./send-to-webhook.ts";
import type { Webhooks } from "./webhooks.ts";

const atOnce = 8;
const mostPerTurn = 32;
/** Much longer than one round of attempts. */
const turnMs = 120_000;

/** Sends the notifications that are due at `now`. Returns how many. */
export async function deliverNotifications(
  {
    db,
    webhooks,
    send = sendToWebhook,
  }: {
    readonly db: Db;
    readonly webhooks: Webhooks;
    /** Another way than HTTP, for the simulation. */
    readonly send?: (webhooks: Webhooks, notification: Notification) => Promise<string | undefined>;
  },
  now: Date,
): Promise<number> {
  await dropNotificationsOfEndedRuns(db);
  const taken = await takeNotifications(db, now, new Date(now.getTime() + turnMs), mostPerTurn);
  if (taken.length === 0) return 0;
  const delivered = await mapAtMost(atOnce, taken, async (notification) => ({
    notification,
    told: afterTry(notification, await send(webhooks, notification), now),
  }));
  await db.transaction((tx) => keepTold(tx, delivered, now));
  return taken.length;
}

/** Returns the consequence of an attempt: delivered, retried after increasing pauses, or given up after a day. */
export function afterTry(
  { attempts, giveUpAt }: Pick<Notification, "attempts" | "giveUpAt">,
  problem: string | undefined,
  now: Date,
): Told {
  if (problem === undefined) return { kind: "delivered" };
  const at = new Date(now.getTime() + Math.min(3_600_000, 1_000 * 2 ** (attempts - 1)));
  return at > giveUpAt ? { kind: "failed", problem } : { kind: "again", at, problem };
}
