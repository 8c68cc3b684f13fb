import { forgeKinds } from "#forge/forge-kinds.ts";
import { forgeFor } from "#forge/forge-services.ts";
import { type RawWebhook, type TakenWebhook, takeWebhook } from "#forge/webhooks/take-webhook.ts";
import { WebhookBodies } from "#forge/webhooks/webhook-bodies.ts";
import type { Services } from "../services.ts";

/** Accepts webhooks of forges, which their signatures identify. */
export interface WebhookTaker {
  /** Returns undefined when there is no such kind of forge, or the forge sends no webhooks. */
  takeWebhook(kind: string, raw: RawWebhook): Promise<TakenWebhook | undefined>;
}

export function webhookTaker({
  db,
  clock,
  dataDir,
  forges,
}: Pick<Services, "db" | "clock" | "dataDir" | "forges">): WebhookTaker {
  const bodies = new WebhookBodies(dataDir);
  return {
    async takeWebhook(kind, raw) {
      if (!forgeKinds.some((each) => each.kind === kind)) return undefined;
      const { webhooks } = forgeFor(forges.forges, kind);
      return webhooks && takeWebhook({ db, clock, bodies }, { kind, webhooks }, raw);
    },
  };
}
