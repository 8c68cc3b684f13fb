import { Hono } from "hono";
import { z } from "zod";
import { SubmitGraph } from "#api/graph.ts";
import { Fault } from "#core/fault.ts";
import { found } from "../handlers/found.ts";
import { eventStream, resumeFrom } from "./event-stream.ts";
import type { Farm, Page } from "./farm.ts";
import { jsonBody, noOptions, submittedDefinitions } from "./json-body.ts";
import { principalOf } from "./principal.ts";

const mostInAList = 200;

const PageQuery = z.object({
  repository: z.string().optional(),
  commit: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(mostInAList).default(50),
  before: z.string().optional(),
});

/** Repositories and graphs. */
export function graphRoutes(farm: Farm): Hono {
  const routes = new Hono();

  routes.get("/repositories", async (c) => c.json(await farm.repositories()));

  routes.get("/graphs", async (c) => {
    const query = PageQuery.safeParse(c.req.query());
    if (!query.success) throw new Fault("invalid_argument", z.prettifyError(query.error));
    const { repository, commit, limit, before } = query.data;
    const page: Page = { limit, before };
    return c.json(await farm.graphs(repository, page, commit));
  });

  routes.post("/graphs", async (c) => {
    const request = await jsonBody(c, SubmitGraph, submittedDefinitions);
    const { isNew, ...submitted } = await farm.submitGraph(request, principalOf(c));
    return c.json(submitted, isNew ? 201 : 200);
  });

  routes.get("/graphs/:id", async (c) => {
    const id = await graphId(farm, c.req.param("id"));
    return c.json(found(await farm.graph(id), `graph ${id}`));
  });

  routes.get("/graphs/:id/events", async (c) => {
    const id = await graphId(farm, c.req.param("id"));
    let version = resumeFrom(c, "since");
    return eventStream(c, farm.graphChanges(id), async () => {
      const delta = found(await farm.graphDelta(id, version), `graph ${id}`);
      const changed = delta.graph.version > version;
      version = delta.graph.version;
      return {
        events: changed ? [{ id: String(version), data: delta }] : [],
        over: delta.graph.state !== "running",
      };
    });
  });

  routes.post("/graphs/:id/cancel", async (c) => {
    await noOptions(c);
    const id = await graphId(farm, c.req.param("id"));
    return c.json(found(await farm.cancelGraph(id, principalOf(c)), `graph ${id}`));
  });

  // Each change of any graph, as its summary: what a list of graphs needs.
  routes.get("/events", async (c) => {
    const repository = c.req.query("repository");
    const sent = new Map<string, number>();
    return eventStream(c, farm.graphChanges(""), async () => {
      const newest = await farm.graphs(repository, { limit: 50, before: undefined });
      const changed = newest.filter((graph) => (sent.get(graph.id) ?? -1) < graph.version);
      for (const graph of changed) sent.set(graph.id, graph.version);
      return { events: changed.map((data) => ({ data })), over: false };
    });
  });

  return routes;
}

/** Resolves what the client wrote: an id, a unique beginning of one, or `latest`. */
export async function graphId(farm: Pick<Farm, "findGraph">, written: string): Promise<string> {
  return found(await farm.findGraph(written), `graph "${written}"`);
}
