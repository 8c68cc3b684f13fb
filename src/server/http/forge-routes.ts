import { Hono } from "hono";
import { z } from "zod";
import {
  AddForgeRepository,
  ApprovePull,
  ChangeForgePolicy,
  NameForgeRepository,
} from "#api/forge.ts";
import { Fault } from "#core/fault.ts";
import { found } from "../handlers/found.ts";
import type { ForgeFarm } from "./forge-farm.ts";
import { jsonBody } from "./json-body.ts";
import { principalOf } from "./principal.ts";

const Named = z.object({ repository: z.string().min(1).max(4_096) });
const MaybeNamed = Named.partial();

/** Watched repositories: which, how, and how that goes. */
export function forgeRoutes(farm: ForgeFarm): Hono {
  const routes = new Hono();

  routes.get("/forge/repositories", async (c) =>
    c.json({ repositories: await farm.forgeRepositories() }),
  );
  routes.get("/forge/repository", async (c) => {
    const { repository } = queried(Named, c.req.query());
    return c.json(
      found(await farm.forgeRepository(repository), `watched repository ${repository}`),
    );
  });
  routes.get("/forge/deliveries", async (c) =>
    c.json({ deliveries: await farm.forgeDeliveries() }),
  );
  routes.get("/forge/examination", async (c) => {
    const { repository } = queried(MaybeNamed, c.req.query());
    return c.json(await farm.examineForge(repository, principalOf(c)));
  });

  routes.post("/forge/repositories", async (c) =>
    c.json(
      await farm.addForgeRepository(await jsonBody(c, AddForgeRepository), principalOf(c)),
      201,
    ),
  );
  routes.post("/forge/repositories/remove", async (c) => {
    const { repository } = await jsonBody(c, NameForgeRepository);
    return c.json({ removed: await farm.removeForgeRepository(repository, principalOf(c)) });
  });
  routes.post("/forge/repositories/policy", async (c) => {
    const { repository, policy } = await jsonBody(c, ChangeForgePolicy);
    return c.json(await farm.setForgePolicy(repository, policy, principalOf(c)));
  });
  routes.post("/forge/repositories/look", async (c) => {
    const { repository } = await jsonBody(c, NameForgeRepository);
    return c.json(await farm.lookAtForgeRepository(repository, principalOf(c)));
  });
  routes.post("/forge/approve", async (c) => {
    const { repository, ...approval } = await jsonBody(c, ApprovePull);
    await farm.approvePull(repository, approval, principalOf(c));
    return c.json({ approved: approval });
  });

  return routes;
}

function queried<Shape extends z.ZodType>(shape: Shape, value: unknown): z.output<Shape> {
  const parsed = shape.safeParse(value);
  if (!parsed.success) throw new Fault("invalid_argument", z.prettifyError(parsed.error));
  return parsed.data;
}
