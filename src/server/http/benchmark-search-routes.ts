import { Hono } from "hono";
import { z } from "zod";
import { StartBenchmarkSearch } from "#api/benchmark-history.ts";
import { Fault } from "#core/fault.ts";
import { found } from "../handlers/found.ts";
import type { BenchmarkSearchFarm } from "./benchmark-search-farm.ts";
import { jsonBody, noOptions } from "./json-body.ts";
import { principalOf } from "./principal.ts";

const ListQuery = z.object({
  suite: z.string().max(200).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

export function benchmarkSearchRoutes(farm: BenchmarkSearchFarm): Hono {
  const routes = new Hono();

  routes.post("/benchmarks/searches", async (c) => {
    const wanted = await jsonBody(c, StartBenchmarkSearch);
    return c.json(await farm.startBenchmarkSearch(wanted, principalOf(c)), 201);
  });
  routes.get("/benchmarks/searches", async (c) => {
    const query = ListQuery.safeParse(c.req.query());
    if (!query.success) throw new Fault("invalid_argument", z.prettifyError(query.error));
    const { suite, limit } = query.data;
    return c.json(await farm.benchmarkSearches({ suite, limit }));
  });
  routes.get("/benchmarks/searches/:id", async (c) => {
    const id = c.req.param("id");
    return c.json(found(await farm.benchmarkSearch(id), `benchmark search ${id}`));
  });
  routes.post("/benchmarks/searches/:id/cancel", async (c) => {
    await noOptions(c);
    const id = c.req.param("id");
    return c.json(
      found(await farm.cancelBenchmarkSearch(id, principalOf(c)), `benchmark search ${id}`),
    );
  });

  return routes;
}
