import { type Context, Hono } from "hono";
import { mostWebhookBytes } from "#forge/webhooks/take-webhook.ts";
import type { ForgeFarm } from "./forge-farm.ts";

/** What all webhooks that are being read may hold together: anybody may send bytes, and only the last says whose. */
const mostHeldBytes = 4 * mostWebhookBytes;

/** Where forges tell of what happens there. They have no token: their signature says who they are. */
export function forgeWebhookRoutes(farm: Pick<ForgeFarm, "takeWebhook">): Hono {
  const routes = new Hono();
  let heldBytes = 0;

  routes.post("/forge/github/webhooks", async (c) => {
    const stated = Number(c.req.header("content-length") ?? Number.NaN);
    if (stated > mostWebhookBytes) return tooLarge(c);
    const reader = c.req.raw.body?.getReader();
    const parts: Uint8Array[] = [];
    let bytes = 0;
    try {
      for (;;) {
        const read = await reader?.read();
        if (read === undefined || read.done) break;
        bytes += read.value.byteLength;
        heldBytes += read.value.byteLength;
        parts.push(read.value);
        const isTooLarge = bytes > mostWebhookBytes;
        if (isTooLarge || heldBytes > mostHeldBytes) {
          await reader?.cancel().catch(() => {});
          return isTooLarge ? tooLarge(c) : busy(c);
        }
      }
      const taken = await farm.takeWebhook({
        signature: c.req.header("x-hub-signature-256"),
        event: c.req.header("x-github-event"),
        delivery: c.req.header("x-github-delivery"),
        contentType: c.req.header("content-type"),
        body: Buffer.concat(parts),
      });
      return c.json({ taken }, taken === "kept" ? 202 : 200);
    } finally {
      heldBytes -= bytes;
    }
  });

  return routes;
}

function tooLarge(c: Context): Response {
  const message = `a webhook has at most ${mostWebhookBytes} bytes`;
  return c.json({ error: { code: "resource_exhausted", message } }, 413);
}

function busy(c: Context): Response {
  const message = "too many webhooks are being read; send it again later";
  return c.json({ error: { code: "unavailable", message } }, 503);
}
