import { Hono } from "hono";
import { ReportRun } from "#api/report.ts";
import { found } from "../handlers/found.ts";
import type { Farm } from "./farm.ts";
import { graphId } from "./graph-routes.ts";
import { jsonBody } from "./json-body.ts";
import { principalOf } from "./principal.ts";

/** What other machines tell of the runs that they serve. */
export function reportRoutes(farm: Farm): Hono {
  const routes = new Hono();

  routes.post("/graphs/:id/jobs/:name/report", async (c) => {
    const report = await jsonBody(c, ReportRun, { bytes: 8 * 1024 * 1024, verb: "report" });
    const id = await graphId(farm, c.req.param("id"));
    const name = c.req.param("name");
    const taken = await farm.reportRun(id, name, report, principalOf(c));
    return c.json(found(taken, `job "${name}" in graph ${id}`));
  });

  return routes;
}
