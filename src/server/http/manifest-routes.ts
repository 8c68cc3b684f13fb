import { Hono } from "hono";
import { found } from "../handlers/found.ts";
import type { Farm } from "./farm.ts";
import { describeRun, runName } from "./job-routes.ts";

/** What runs were and made, for programs. */
export function manifestRoutes(farm: Farm): Hono {
  const routes = new Hono();

  routes.get("/schema/run-manifest.json", (c) => c.json(farm.manifestSchema()));

  routes.get("/graphs/:id/jobs/:name/runs/:run/manifest", async (c) => {
    const run = await runName(farm, c.req.param());
    return c.json(found(await farm.manifest(run), describeRun(run)));
  });

  return routes;
}
