import { createHash } from "node:crypto";
import type { Clock } from "#core/clock.ts";
import type { Db } from "#db/db.ts";
import { insertDelivery } from "../delivery.store.ts";
import type { ForgeWebhooks } from "./forge-webhooks.ts";
import type { IncomingBody, WebhookBodies } from "./webhook-bodies.ts";

/** A received webhook, not yet verified. */
export interface RawWebhook {
  /** Returns a header by its name in lower case. */
  readonly header: (name: string) => string | undefined;
  readonly body: IncomingBody;
}

/** `kept`: it will be processed. `known`: it arrived before. `nothing`: it requires no action. */
export type TakenWebhook = "kept" | "known" | "nothing";

/**
 * Accepts a webhook: verifies the sender before parsing a byte of it, and stores its hints. The work follows later,
 * because forges wait only some seconds, and may not send again.
 */
export async function takeWebhook(
  {
    db,
    clock,
    bodies,
  }: {
    readonly db: Db;
    readonly clock: Clock;
    readonly bodies: WebhookBodies;
  },
  { kind, webhooks }: { readonly kind: string; readonly webhooks: ForgeWebhooks },
  raw: RawWebhook,
): Promise<TakenWebhook> {
  const incoming = webhooks.begin(raw.header);
  const bodySum = createHash("sha256");
  const { event, delivery, slug, hint } = await bodies.read(
    raw.body,
    {
      seen(piece) {
        incoming.seen(piece);
        bodySum.update(piece);
      },
      passed: () => incoming.passed(),
    },
    (body) => incoming.read(body),
  );
  if (hint.about === "nothing") return "nothing";
  const isNew = await db.transaction((tx) =>
    insertDelivery(tx, {
      kind,
      id: delivery,
      event,
      slug,
      hint,
      receivedAt: clock.now(),
      bodyHash: bodySum.digest("hex"),
    }),
  );
  return isNew ? "kept" : "known";
}
