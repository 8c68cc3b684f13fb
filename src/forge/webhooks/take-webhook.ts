import { createHash } from "node:crypto";
import type { Clock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import { insertDelivery } from "../delivery.store.ts";
import { readWebhook } from "./read-webhook.ts";
import type { IncomingBody, WebhookBodies } from "./webhook-bodies.ts";
import { checkSignature } from "./webhook-signature.ts";

/** A webhook as it came in: nothing of it is believed yet. */
export interface RawWebhook {
  readonly signature: string | undefined;
  readonly event: string | undefined;
  readonly delivery: string | undefined;
  readonly contentType: string | undefined;
  readonly body: IncomingBody;
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
    bodies,
  }: {
    readonly db: Db;
    readonly clock: Clock;
    readonly secrets: readonly string[];
    readonly bodies: WebhookBodies;
  },
  raw: RawWebhook,
): Promise<TakenWebhook> {
  if (secrets.length === 0) {
    throw new Fault(
      "failed_precondition",
      "this farm takes no webhooks: give the server GRANGE_GITHUB_WEBHOOK_SECRET",
    );
  }
  // Only what a secret could have signed is worth reading.
  const signature = checkSignature(raw.signature, secrets);
  if (signature === undefined) throw notSigned();
  const bodySum = createHash("sha256");
  const { event, delivery, slug, hint } = await bodies.read(
    raw.body,
    {
      seen(piece) {
        signature.add(piece);
        bodySum.update(piece);
      },
      passed() {
        if (!signature.isRight()) throw notSigned();
      },
    },
    (body) => {
      const named = namedIn(raw);
      return { ...named, ...readWebhook(named.event, parsed(body)) };
    },
  );
  if (hint.about === "nothing") return "nothing";
  const isNew = await db.transaction((tx) =>
    insertDelivery(tx, {
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

function notSigned(): Fault {
  return new Fault(
    "unauthenticated",
    "the webhook's signature (X-Hub-Signature-256) is missing or not that of our secret: both sides must have the same",
  );
}

/** What the headers say, which the signature does not cover. */
function namedIn({ event, delivery, contentType }: RawWebhook): {
  readonly event: string;
  readonly delivery: string;
} {
  if (event === undefined || !/^[a-z_]{1,60}$/.test(event)) {
    throw new Fault("invalid_argument", "the header X-GitHub-Event names no event");
  }
  if (delivery === undefined || !/^[0-9A-Za-z-]{1,64}$/.test(delivery)) {
    throw new Fault("invalid_argument", "the header X-GitHub-Delivery names no delivery");
  }
  if (!/^application\/json\b/i.test(contentType ?? "")) {
    throw new Fault(
      "invalid_argument",
      "the webhook's content type must be application/json: choose that in its settings",
    );
  }
  return { event, delivery };
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch (cause) {
    throw new Fault("invalid_argument", "the webhook's body is not JSON", { cause });
  }
}
