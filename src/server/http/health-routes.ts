import { Hono } from "hono";
import type { ReadinessProbe } from "../health/readiness.ts";

/**
 * For service managers and load balancers, without a token and under any host name or address:
 *
 * - `GET /healthz`: 200 while the process answers at all. A server that fails it should be started again.
 * - `GET /readyz`: 200 while requests should be sent to it, otherwise 503; in JSON, with the reasons.
 */
export function healthRoutes(readiness: Pick<ReadinessProbe, "read">): Hono {
  const routes = new Hono();
  routes.use(async (c, next) => {
    await next();
    c.header("cache-control", "no-store");
  });
  routes.get("/healthz", (c) => c.text("ok\n"));
  routes.get("/readyz", async (c) => {
    const state = await readiness.read();
    return c.json(state, state.ready ? 200 : 503);
  });
  return routes;
}
