import { Hono } from "hono";
import { ImportResults } from "#api/benchmark-history.ts";
import type { BenchmarkImportFarm } from "./benchmark-import-farm.ts";
import { jsonBody } from "./json-body.ts";
import { principalOf } from "./principal.ts";

export function benchmarkImportRoutes(farm: BenchmarkImportFarm): Hono {
  const routes = new Hono();

  routes.post("/benchmarks/import", async (c) => {
    const told = await jsonBody(c, ImportResults, { bytes: 32 * 1024 * 1024, verb: "benchmark" });
    return c.json(await farm.importBenchmarks(told, principalOf(c)));
  });

  return routes;
}
