import { Hono } from "hono";
import { requireRight } from "#access/require-right.ts";
import { rightOnFarm } from "#core/right.ts";
import type { Farm } from "./farm.ts";
import { metricsText } from "./metrics-text.ts";
import { authenticate, type CallerIdentifier, principalOf } from "./principal.ts";

/** The metrics for scrapers. Outside of the API, at `/metrics`, where scrapers expect them. */
export function metricsRoutes(farm: Pick<Farm, "metricFamilies"> & CallerIdentifier): Hono {
  const routes = new Hono();

  routes.get("/metrics", authenticate(farm), async (c) => {
    requireRight(principalOf(c), rightOnFarm("read"));
    const families = await farm.metricFamilies();
    if (/application\/openmetrics-text/.test(c.req.header("accept") ?? "")) {
      c.header("content-type", "application/openmetrics-text; version=1.0.0; charset=utf-8");
      return c.body(metricsText(families, "# EOF\n"));
    }
    c.header("content-type", "text/plain; version=0.0.4; charset=utf-8");
    return c.body(metricsText(families, ""));
  });

  return routes;
}
