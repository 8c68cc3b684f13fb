import type { Clock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import { insertDelivery } from "../delivery.store.ts";
import { readWebhook } from "./read-webhook.ts";
import { isSigned } from "./webhook-signature.ts";

/** GitHub sends nothing larger. */
export const mostWebhookBytes = 25 * 1024 * 1024;

/** A webhook as it came in: nothing of it is believed yet. */
export interface RawWebhook {
  readonly signature: string | undefined;
  readonly event: string | undefined;
  readonly delivery: string | undefined;
  readonly contentType: string | undefined;
  readonly body: Uint8Array;
}

/** `kept`: it will be worked on. `known`: it came before. `nothing`: it asks for nothing. */
export type TakenWebhook = "kept" | "known" | "nothing";

/**
 * Takes a webhook: checks who sent it before a byte of it is parsed, and keeps what it is about. What follows is
 * done later: GitHub waits ten seconds, and does not send again.
 */
export async function takeWebhook(
  {
    db,
    clock,
    secrets,
  }: { readonly db: Db; readonly clock: Clock; readonly secrets: readonly string[] },
  raw: RawWebhook,
): Promise<TakenWebhook> {
  if (secrets.length === 0) {
    throw new Fault(
      "failed_precondition",
      "this farm takes no webhooks: give the server GRANGE_GITHUB_WEBHOOK_SECRET",
    );
  }
  if (raw.body.byteLength > mostWebhookBytes) {
    throw new Fault("resource_exhausted", `a webhook has at most ${mostWebhookBytes} bytes`);
  }
  if (!isSigned(raw.body, raw.signature, secrets)) {
    throw new Fault(
      "unauthenticated",
      "the webhook's signature (X-Hub-Signature-256) is missing or not that of our secret: both sides must have the same",
    );
  }
  const { event, delivery } = raw;
  if (event === undefined || !/^[a-z_]{1,60}$/.test(event)) {
    throw new Fault("invalid_argument", "the header X-GitHub-Event names no event");
  }
  if (delivery === undefined || !/^[0-9A-Za-z-]{1,64}$/.test(delivery)) {
    throw new Fault("invalid_argument", "the header X-GitHub-Delivery names no delivery");
  }
  if (!/^application\/json\b/i.test(raw.contentType ?? "")) {
    throw new Fault(
      "invalid_argument",
      "the webhook's content type must be application/json: choose that in its settings",
    );
  }
  const { slug, hint } = readWebhook(event, parsed(raw.body));
  if (hint.about === "nothing") return "nothing";
  const isNew = await db.transaction((tx) =>
    insertDelivery(tx, { id: delivery, event, slug, hint, receivedAt: clock.now() }),
  );
  return isNew ? "kept" : "known";
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch (cause) {
    throw new Fault("invalid_argument", "the webhook's body is not JSON", { cause });
  }
}
