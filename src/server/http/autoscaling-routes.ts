import { Hono } from "hono";
import { DeclareClass, UndeclareClass } from "#api/declared-class.ts";
import { Fault } from "#core/fault.ts";
import type { AutoscalingFarm } from "./autoscaling-farm.ts";
import { jsonBody, requireJson } from "./json-body.ts";
import { principalOf } from "./principal.ts";

/** For autoscalers, and for those who say what they may start. */
export function autoscalingRoutes(farm: AutoscalingFarm): Hono {
  const routes = new Hono();

  routes.get("/autoscaling", async (c) => c.json(await farm.autoscaling()));

  routes.get("/declared-classes", async (c) => c.json(await farm.declaredClasses()));
  routes.put("/declared-classes", async (c) => {
    requireJson(c);
    return c.json(await farm.declareClass(await jsonBody(c, DeclareClass), principalOf(c)));
  });
  routes.delete("/declared-classes", async (c) => {
    requireJson(c);
    const named = await jsonBody(c, UndeclareClass);
    if (!(await farm.undeclareClass(named, principalOf(c)))) {
      throw new Fault(
        "not_found",
        `size class ${named.sizeClass} is not declared for that platform; \`grange size-class declared\` lists what is`,
      );
    }
    return c.json(await farm.declaredClasses());
  });

  return routes;
}
