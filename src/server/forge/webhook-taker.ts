import { type RawWebhook, type TakenWebhook, takeWebhook } from "#forge/webhooks/take-webhook.ts";
import { WebhookBodies } from "#forge/webhooks/webhook-bodies.ts";
import type { Services } from "../services.ts";

/** Takes what a forge sends by itself; its signature says who it is. */
export interface WebhookTaker {
  takeWebhook(raw: RawWebhook): Promise<TakenWebhook>;
}

export function webhookTaker({
  db,
  clock,
  dataDir,
  forges,
}: Pick<Services, "db" | "clock" | "dataDir" | "forges">): WebhookTaker {
  const bodies = new WebhookBodies(dataDir);
  const parts = { db, clock, secrets: forges.webhookSecrets, bodies };
  return { takeWebhook: (raw) => takeWebhook(parts, raw) };
}
