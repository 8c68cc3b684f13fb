import { Hono } from "hono";
import { z } from "zod";
import { StartSearch } from "#api/search.ts";
import { Fault } from "#core/fault.ts";
import { found } from "./found.ts";
import { jsonBody } from "./json-body.ts";
import { principalOf } from "./principal.ts";
import type { SearchFarm } from "./search-farm.ts";

const ListQuery = z.object({
  repository: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

const CommitsQuery = z.object({
  before: z.coerce.number().int().min(1).optional(),
  limit: z.coerce.number().int().min(1).max(1_000).default(200),
});

/** Backfills and bisections over ranges of commits. */
export function searchRoutes(farm: SearchFarm): Hono {
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
    const id = c.req.param("id");
    return c.json(found(await farm.cancelSearch(id, principalOf(c)), `search ${id}`));
  });

  return routes;
}
