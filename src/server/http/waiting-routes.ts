import { Hono } from "hono";
import type { JobWaiting } from "#api/waiting.ts";
import { found } from "../handlers/found.ts";
import type { Farm } from "./farm.ts";
import { graphId } from "./graph-routes.ts";

/** Why jobs wait. */
export function waitingRoutes(farm: Farm): Hono {
  const routes = new Hono();

  routes.get("/graphs/:id/jobs/:name/waiting", async (c) => {
    const id = await graphId(farm, c.req.param("id"));
    const name = c.req.param("name");
    const waiting = await farm.jobWaiting(id, name);
    return c.json(
      found(
        waiting === undefined ? undefined : ({ waiting } satisfies JobWaiting),
        `job "${name}" in graph ${id}`,
      ),
    );
  });

  return routes;
}
