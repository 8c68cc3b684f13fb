import { Hono } from "hono";
import { CreateEnrolment, Enrol } from "#api/enrolment.ts";
import type { EnrolmentFarm } from "./enrolment-farm.ts";
import { jsonBody, noOptions } from "./json-body.ts";
import { principalOf } from "./principal.ts";

/** Enrolment of machines, and those that are quarantined. */
export function enrolmentRoutes(farm: EnrolmentFarm): Hono {
  const routes = new Hono();

  routes.post("/enrolments", async (c) => {
    const wanted = await jsonBody(c, CreateEnrolment);
    const created = await farm.createEnrolment(wanted, principalOf(c));
    // Nobody on the way may keep it.
    c.header("cache-control", "no-store");
    return c.json(created, 201);
  });
  routes.post("/enrol", async (c) => c.json(await farm.enrol(await jsonBody(c, Enrol))));

  routes.get("/workers/quarantined", async (c) => c.json(await farm.quarantinedWorkers()));
  routes.post("/workers/:name/release", async (c) => {
    await noOptions(c);
    return c.json(await farm.releaseWorker(c.req.param("name"), principalOf(c)));
  });

  return routes;
}
