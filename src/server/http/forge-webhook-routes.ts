import { Hono } from "hono";
import { Fault } from "#core/fault.ts";
import type { WebhookTaker } from "../forge/webhook-taker.ts";
import { faultToHttp } from "./fault-to-http.ts";

/**
 * By then the other webhooks have been read. If the forge does not send it again, the periodic comparison finds the
 * change.
 */
const retryAfterSeconds = 10;

/**
 * The routes of webhooks. They are not in the table of endpoints: they are outside of /api/v1, and forges have no token
 * and no right; their signature identifies them.
 */
export function forgeWebhookRoutes(farm: WebhookTaker): Hono {
  const routes = new Hono();

  routes.post("/forge/:kind/webhooks", async (c) => {
    const stated = c.req.header("content-length");
    try {
      const taken = await farm.takeWebhook(c.req.param("kind"), {
        header: (name) => c.req.header(name),
        body: {
          statedBytes: stated === undefined ? undefined : Number(stated),
          // Created when it is the turn of the request: until then no byte of it is read from the socket.
          get stream() {
            return c.req.raw.body;
          },
        },
      });
      if (taken === undefined) return c.notFound();
      return c.json({ taken }, taken === "kept" ? 202 : 200);
    } catch (reason) {
      if (!(reason instanceof Fault)) throw reason;
      const { body } = faultToHttp(reason);
      if (reason.code === "resource_exhausted") return c.json(body, 413);
      if (reason.code !== "unavailable") throw reason;
      c.header("retry-after", String(retryAfterSeconds));
      return c.json(body, 503);
    }
  });

  return routes;
}
