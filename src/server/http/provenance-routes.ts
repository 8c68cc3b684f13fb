import { Hono } from "hono";
import { Fault } from "#core/fault.ts";
import { found } from "../handlers/found.ts";
import type { ProvenanceFarm } from "./provenance-farm.ts";

/** Who made an output of what, signed by the farm. */
export function provenanceRoutes(farm: ProvenanceFarm): Hono {
  const routes = new Hono();

  routes.get("/provenance", async (c) => {
    const digest = c.req.query("digest");
    if (digest === undefined || !/^[0-9a-f]{64}(\/\d{1,16})?$/.test(digest)) {
      throw new Fault("invalid_argument", "name an output by its SHA-256: /provenance?digest=HASH");
    }
    const what = `output ${digest} of a run that the farm attests`;
    return c.json(found(await farm.provenance(digest), what));
  });

  return routes;
}
