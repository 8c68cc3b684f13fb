import { Hono } from "hono";
import { z } from "zod";
import { SetSizeClassSettings } from "#api/size-class.ts";
import { Fault } from "#core/fault.ts";
import { found } from "../handlers/found.ts";
import { describeExecution, executionIdIn } from "./execution-routes.ts";
import { jsonBody, requireJson } from "./json-body.ts";
import { principalOf } from "./principal.ts";
import type { SizeClassFarm } from "./size-class-farm.ts";

const longestText = 200;
const longestName = 1_024;

const KeysQuery = z.object({
  text: z.string().max(longestText).optional(),
  before: z
    .string()
    .max(4 * longestName)
    .optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});
const KeyQuery = z.object({
  project: z.string().max(longestName).default("default"),
  domain: z.string().max(longestName).optional(),
});
const ClassQuery = z.object({
  platform: z
    .string()
    .max(4 * longestName)
    .optional(),
});

/** Which size classes there are, what was chosen, and how choices are made. */
export function sizeClassRoutes(farm: SizeClassFarm): Hono {
  const routes = new Hono();

  routes.get("/executions/:id/size-class", async (c) => {
    const id = executionIdIn(c);
    return c.json(found(await farm.executionSizeClass(id), describeExecution(id)));
  });

  routes.get("/size-classes", async (c) => c.json(await farm.sizeClasses()));
  routes.get("/size-classes/settings", async (c) => c.json(await farm.sizeClassSettings()));
  routes.put("/size-classes/settings", async (c) => {
    requireJson(c);
    const change = await jsonBody(c, SetSizeClassSettings);
    return c.json(await farm.setSizeClassSettings(change, principalOf(c)));
  });
  routes.get("/size-classes/:class{[0-9]{1,7}}", async (c) => {
    const { platform } = parsed(ClassQuery, c.req.query());
    const sizeClass = Number(c.req.param("class"));
    const where = platform === undefined ? "" : ` of the platform "${platform.slice(0, 200)}"`;
    return c.json(
      found(
        await farm.sizeClass(sizeClass, platform),
        `size class ${sizeClass}${where}; \`grange size-classes\` lists them`,
      ),
    );
  });

  routes.get("/size-class-keys", async (c) => {
    const { text, before, limit } = parsed(KeysQuery, c.req.query());
    return c.json(await farm.sizeClassKeys({ text, before, limit }));
  });
  routes.get("/size-class-keys/:key", async (c) => {
    const key = c.req.param("key").slice(0, longestName);
    const { project, domain } = parsed(KeyQuery, c.req.query());
    return c.json(
      found(
        await farm.sizeClassKey({ project, domain, key }),
        `key "${key.slice(0, 100)}" in the project "${project.slice(0, 100)}"; nothing that it names was executed, or that was so long ago that the farm forgot it`,
      ),
    );
  });

  return routes;
}

function parsed<Shape extends z.ZodType>(shape: Shape, query: unknown): z.output<Shape> {
  const read = shape.safeParse(query);
  if (!read.success) throw new Fault("invalid_argument", z.prettifyError(read.error));
  return read.data;
}
