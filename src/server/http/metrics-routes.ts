import { Hono } from "hono";
import { metricsText } from "./metrics-text.ts";
import type { TimesFarm } from "./times-farm.ts";

/** What scrapers read. It lies beside the API: their custom is /metrics, without a token. */
export function metricsRoutes(farm: Pick<TimesFarm, "metricFamilies">): Hono {
  const routes = new Hono();

  routes.get("/metrics", async (c) => {
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
