import { Fault } from "#core/fault.ts";
import type { ForgeWebhooks } from "../webhooks/forge-webhooks.ts";
import { readWebhook } from "./read-webhook.ts";
import { checkSignature } from "./webhook-signature.ts";

/** Checks and reads webhooks of GitHub, signed with one of these secrets. */
export function takeWebhooks(secrets: readonly string[]): Pick<ForgeWebhooks, "begin"> {
  return {
    begin(header) {
      if (secrets.length === 0) {
        throw new Fault(
          "failed_precondition",
          "this farm accepts no webhooks: set GRANGE_GITHUB_WEBHOOK_SECRET",
        );
      }
      // A body is read only if its signature could be valid.
      const signature = checkSignature(header("x-hub-signature-256"), secrets);
      if (signature === undefined) throw notSigned();
      return {
        seen: (piece) => signature.add(piece),
        passed() {
          if (!signature.isRight()) throw notSigned();
        },
        read(body) {
          const named = namedIn(header);
          return { ...named, ...readWebhook(named.event, parsed(body)) };
        },
      };
    },
  };
}

function notSigned(): Fault {
  return new Fault(
    "unauthenticated",
    "the webhook's signature (X-Hub-Signature-256) is missing or wrong: GitHub and the farm must have the same secret (GRANGE_GITHUB_WEBHOOK_SECRET)",
  );
}

/** Returns the data of the headers, which the signature does not cover. */
function namedIn(header: (name: string) => string | undefined): {
  readonly event: string;
  readonly delivery: string;
} {
  const event = header("x-github-event");
  if (event === undefined || !/^[a-z_]{1,60}$/.test(event)) {
    throw new Fault("invalid_argument", "the header X-GitHub-Event must name an event");
  }
  const delivery = header("x-github-delivery");
  if (delivery === undefined || !/^[0-9A-Za-z-]{1,64}$/.test(delivery)) {
    throw new Fault("invalid_argument", "the header X-GitHub-Delivery must name a delivery");
  }
  if (!/^application\/json\b/i.test(header("content-type") ?? "")) {
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
