import { Hono } from "hono";
import { AddDrain, RemoveDrain } from "#api/drain.ts";
import { Fault } from "#core/fault.ts";
import type { DrainFarm } from "./drain-farm.ts";
import { jsonBody } from "./json-body.ts";
import { principalOf } from "./principal.ts";

/** Which workers are to take nothing new. */
export function drainRoutes(farm: DrainFarm): Hono {
  const routes = new Hono();

  routes.get("/drains", async (c) => c.json(await farm.drains()));
  routes.post("/drains", async (c) =>
    c.json(await farm.addDrain(await jsonBody(c, AddDrain), principalOf(c))),
  );
  routes.post("/drains/remove", async (c) => {
    const { pattern } = await jsonBody(c, RemoveDrain);
    if (!(await farm.removeDrain(pattern, principalOf(c)))) {
      throw new Fault("not_found", `there is no drain "${pattern}"; \`grange drain\` lists them`);
    }
    return c.json(await farm.drains());
  });

  return routes;
}
