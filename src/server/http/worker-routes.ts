import { Hono } from "hono";
import { eventStream } from "./event-stream.ts";
import type { Farm } from "./farm.ts";

export function workerRoutes(farm: Farm): Hono {
  const routes = new Hono();

  routes.get("/workers", async (c) => c.json(await farm.workers()));

  routes.get("/workers/events", async (c) => {
    let sent = "";
    return eventStream(c, farm.workerChanges(), async () => {
      const workers = await farm.workers();
      const text = JSON.stringify(workers);
      const changed = text !== sent;
      sent = text;
      return { events: changed ? [{ data: workers }] : [], over: false };
    });
  });

  return routes;
}
