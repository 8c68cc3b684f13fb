import type { Notification } from "#graphs/kinds/notification.store.ts";
import type { World } from "./world.ts";

export const webhookUrl = "https://receiver.test/told";

/** Takes a notification, as a receiver beyond an unreliable network does. Returns the problem that the sender has. */
export async function receiveNotification(
  world: World,
  notification: Pick<Notification, "id" | "body">,
): Promise<string | undefined> {
  const { loop } = world;
  await loop.sleep(1 + loop.random.next() * 40);
  const { lostMessage } = world.scenario.faults;
  const isFaulty = !world.areFaultsOver;
  if (isFaulty && loop.random.chance(lostMessage)) return "it did not answer within 10 s";
  const { graph, job, run } = notification.body;
  world.observe({
    kind: "notified",
    graph: String(graph),
    job: String(job),
    run: Number(run),
    id: notification.id,
  });
  await loop.sleep(1 + loop.random.next() * 40);
  if (isFaulty && loop.random.chance(lostMessage)) return "it did not answer within 10 s";
  return isFaulty && loop.random.chance(0.1) ? "it answered 503" : undefined;
}
