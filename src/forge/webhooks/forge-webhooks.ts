import type { Hint } from "./hint.ts";
import type { BodyCheck } from "./webhook-bodies.ts";

/** Webhooks that a forge sends to the farm. */
export interface ForgeWebhooks {
  /**
   * Reads the headers of a webhook, before a byte of its body is read. Throws `unauthenticated` when they contain no
   * possibly valid signature.
   */
  begin(header: (name: string) => string | undefined): IncomingWebhook;
  readonly redeliveries?: ForgeRedeliveries;
}

/** A webhook whose body is being received. */
interface IncomingWebhook extends BodyCheck {
  /** Parses the body, after `passed`. Throws `invalid_argument` for a body that the forge does not send. */
  read(body: Uint8Array): ReadWebhook;
}

/** The content of a webhook. */
export interface ReadWebhook {
  /** The forge's id of the delivery; each id is processed once. */
  readonly delivery: string;
  readonly event: string;
  /** The repository, as `storedSlug` writes it; empty where none is named. */
  readonly slug: string;
  readonly hint: Hint;
}

/** The forge's record of the webhooks that it sent, used to find those that never arrived. */
export interface ForgeRedeliveries {
  /** For how long the forge keeps its record, in milliseconds. */
  readonly keptMs: number;
  list(since: Date): Promise<ForgeDelivery[]>;
  redeliver(id: string): Promise<void>;
}

/** A webhook in the forge's record of sent webhooks. */
export interface ForgeDelivery {
  /** The forge's id, used to request a redelivery. */
  readonly id: string;
  /** The id under which it arrives here (`ReadWebhook.delivery`). */
  readonly guid: string;
  readonly event: string;
  readonly deliveredAt: Date;
  /** Whether the farm's response was 2xx. */
  readonly wasTaken: boolean;
}
