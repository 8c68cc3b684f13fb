import { Hono } from "hono";
import { RemoveProjects } from "#api/project.ts";
import { jsonBody } from "./json-body.ts";
import { principalOf } from "./principal.ts";
import type { ProjectFarm } from "./project-farm.ts";

/** Projects that have blobs, and the removal of those that nobody needs. */
export function projectRoutes(farm: ProjectFarm): Hono {
  const routes = new Hono();

  routes.get("/projects", async (c) => c.json(await farm.projects(principalOf(c))));
  routes.post("/projects/remove", async (c) =>
    c.json(await farm.removeProjects(await jsonBody(c, RemoveProjects), principalOf(c))),
  );

  return routes;
}
