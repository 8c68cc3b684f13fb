import { Hono } from "hono";
import { z } from "zod";
import { MetricDefinition, MetricName, SetMetric, TimesGrouping } from "#api/times.ts";
import { Fault } from "#core/fault.ts";
import { parseDuration } from "#graphs/definitions/duration.ts";
import { found } from "../handlers/found.ts";
import { jsonBody, requireJson } from "./json-body.ts";
import { principalOf } from "./principal.ts";
import type { TimesFarm } from "./times-farm.ts";

const yearMs = 366 * 86_400_000;

const TimesQuery = z.object({
  repository: z.string().optional(),
  branch: z.string().optional(),
  group: TimesGrouping.default("branch"),
  window: z
    .string()
    .default("7d")
    .transform((text) => parseDuration(text) ?? 0)
    .refine((ms) => ms >= 60_000 && ms <= yearMs, "must be a duration from 1m to 366d, such as 7d"),
});

/** How long people wait, and what the farm is measured by. */
export function timesRoutes(farm: TimesFarm): Hono {
  const routes = new Hono();

  routes.get("/times", async (c) => {
    const query = TimesQuery.safeParse(c.req.query());
    if (!query.success) throw new Fault("invalid_argument", z.prettifyError(query.error));
    const { repository, branch, group, window: windowMs } = query.data;
    return c.json(await farm.times({ repository, branch, group, windowMs }));
  });

  routes.get("/metrics", async (c) => c.json(await farm.metrics()));
  routes.get("/metrics/:name", async (c) => {
    const name = c.req.param("name");
    return c.json(found(await farm.metric(name), `metric "${name}"`));
  });
  routes.put("/metrics/:name", async (c) => {
    requireJson(c);
    const name = MetricName.safeParse(c.req.param("name"));
    if (!name.success) throw new Fault("invalid_argument", z.prettifyError(name.error));
    const metric = MetricDefinition.parse({ ...(await jsonBody(c, SetMetric)), name: name.data });
    return c.json(await farm.setMetric(metric, principalOf(c)));
  });

  return routes;
}
