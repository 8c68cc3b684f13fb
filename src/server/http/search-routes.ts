import { Hono } from "hono";
import { z } from "zod";
import { StartSearch } from "#api/search.ts";
import { Fault } from "#core/fault.ts";
import { found } from "../handlers/found.ts";
import type { Farm } from "./farm.ts";
import { graphId } from "./graph-routes.ts";
import { jsonBody, noOptions } from "./json-body.ts";
import { principalOf } from "./principal.ts";

const ListQuery = z.object({
  repository: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

const CommitsQuery = z.object({
  before: z.coerce.number().int().min(1).optional(),
  limit: z.coerce.number().int().min(1).max(1_000).default(200),
});

/** Backfills and bisections over ranges of commits, and jobs that answer for others. */
export function searchRoutes(farm: Farm): Hono {
  const routes = new Hono();

  routes.post("/searches", async (c) => {
    const started = await farm.startSearch(await jsonBody(c, StartSearch), principalOf(c));
    return c.json(started, started.search === null ? 200 : 201);
  });

  routes.get("/searches", async (c) => {
    const query = ListQuery.safeParse(c.req.query());
    if (!query.success) throw new Fault("invalid_argument", z.prettifyError(query.error));
    const { repository, limit } = query.data;
    return c.json(await farm.searches({ repository, limit }));
  });

  routes.get("/searches/:id", async (c) => {
    const query = CommitsQuery.safeParse(c.req.query());
    if (!query.success) throw new Fault("invalid_argument", z.prettifyError(query.error));
    const id = c.req.param("id");
    const { before, limit } = query.data;
    return c.json(found(await farm.search(id, { before, limit }), `search ${id}`));
  });

  routes.post("/searches/:id/cancel", async (c) => {
    await noOptions(c);
    const id = c.req.param("id");
    return c.json(found(await farm.cancelSearch(id, principalOf(c)), `search ${id}`));
  });

  routes.get("/graphs/:id/jobs/:name/coalescing", async (c) => {
    const id = await graphId(farm, c.req.param("id"));
    const name = c.req.param("name");
    return c.json(found(await farm.jobCoalescing(id, name), `job "${name}" in graph ${id}`));
  });

  return routes;
}
