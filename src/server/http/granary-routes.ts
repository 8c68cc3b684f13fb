import { Hono } from "hono";
import { z } from "zod";
import { CommitId, EnvironmentName, ReleaseResult } from "#api/granary.ts";
import { found } from "../handlers/found.ts";
import type { GranaryFarm } from "./granary-farm.ts";
import { jsonBody } from "./json-body.ts";
import { principalOf } from "./principal.ts";
import { queryOf } from "./query.ts";

const Project = z.string().min(1).max(200).default("default");
const Limit = z.coerce.number().int().min(1).max(200).default(50);

const BuildsQuery = z.object({
  project: Project,
  repository: z.string().max(200).optional(),
  commit: CommitId.optional(),
  limit: Limit,
  after: z.uuid().optional(),
});
const SavingsQuery = z.object({
  project: Project,
  days: z.coerce.number().int().min(1).max(90).default(30),
});
const IndexesQuery = z.object({ project: Project, limit: Limit });
const IndexQuery = z.object({
  project: Project,
  repository: z.string().max(200).default(""),
  commit: CommitId,
  environment: EnvironmentName.optional(),
  from: z.coerce.number().int().min(0).max(1_000_000).default(0),
});
const QuarantineQuery = z.object({ project: Project });

/** What granaries told, and what the farm knows for them. */
export function granaryRoutes(farm: GranaryFarm): Hono {
  const routes = new Hono();

  routes.get("/granary/builds", async (c) => {
    const { project, repository, commit, limit, after } = queryOf(c, BuildsQuery);
    return c.json(await farm.granaryBuilds({ project, repository, commit, limit, after }));
  });

  routes.get("/granary/builds/:id", async (c) => {
    const id = z.uuid().safeParse(c.req.param("id"));
    const build = id.success ? await farm.granaryBuild(id.data) : undefined;
    return c.json(found(build, "build of a granary with that id"));
  });

  routes.get("/granary/savings", async (c) => {
    const { project, days } = queryOf(c, SavingsQuery);
    return c.json(await farm.granarySavings(project, days));
  });

  routes.get("/granary/indexes", async (c) => {
    const { project, limit } = queryOf(c, IndexesQuery);
    return c.json(await farm.commitIndexes(project, limit));
  });

  routes.get("/granary/index", async (c) => {
    const { from, environment, ...which } = queryOf(c, IndexQuery);
    const page = await farm.commitIndex({ ...which, environment }, from);
    return c.json(found(page, `index of commit ${which.commit} in that environment`));
  });

  routes.get("/granary/quarantine", async (c) =>
    c.json(await farm.quarantine(queryOf(c, QuarantineQuery).project)),
  );

  routes.post("/granary/quarantine/release", async (c) =>
    c.json(await farm.releaseResult(await jsonBody(c, ReleaseResult), principalOf(c))),
  );

  routes.post("/granary/quarantine/made-from", async (c) =>
    c.json(await farm.quarantineMadeFrom(await jsonBody(c, ReleaseResult), principalOf(c))),
  );

  return routes;
}
