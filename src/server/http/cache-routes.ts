import { Hono } from "hono";
import type { CacheFarm } from "./cache-farm.ts";

/** About the caches. They themselves are not served from here, but under `/cache/`. */
export function cacheRoutes(farm: CacheFarm): Hono {
  const routes = new Hono();
  routes.get("/caches", async (c) => c.json(await farm.toolCaches()));
  return routes;
}
