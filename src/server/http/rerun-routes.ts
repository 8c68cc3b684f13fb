import { type Context, Hono } from "hono";
import type { z } from "zod";
import type { Principal } from "#access/principal.ts";
import { Activate, Clone, Customise, Deactivate, Release, Retrigger, Waive } from "#api/rerun.ts";
import type { Farm } from "./farm.ts";
import { found } from "./found.ts";
import { graphId } from "./graph-routes.ts";
import { jsonBody, type LargeBody } from "./json-body.ts";
import { principalOf } from "./principal.ts";

/** What people do to jobs and edges of graphs, each with a dry run; and sets of graphs. */
export function rerunRoutes(farm: Farm): Hono {
  const routes = new Hono();

  const verb = <Shape extends z.ZodType>(
    name: string,
    shape: Shape,
    act: (id: string, request: z.output<Shape>, by: Principal) => Promise<object | undefined>,
    large?: LargeBody,
  ) => {
    routes.post(`/graphs/:id/${name}`, async (c: Context<object, "/graphs/:id/x">) => {
      const request = await jsonBody(c, shape, large);
      const id = await graphId(farm, c.req.param("id"));
      return c.json(found(await act(id, request, principalOf(c)), whatOf(id, request)));
    });
  };
  /** Registers a change of a graph's jobs, and the same for all graphs of a set. */
  const change = <Shape extends z.ZodType<{ readonly wholeSet: boolean }>>(
    name: string,
    shape: Shape,
    act: (id: string, request: z.output<Shape>, by: Principal) => Promise<object | undefined>,
  ) => {
    verb(name, shape, act);
    routes.post(`/sets/:set/${name}`, async (c: Context<object, "/sets/:set/x">) => {
      const request = await jsonBody(c, shape);
      const set = await setId(farm, c.req.param("set"));
      return c.json(found(await act(set, { ...request, wholeSet: true }, principalOf(c)), set));
    });
  };
  change("retrigger", Retrigger, (...asked) => farm.retrigger(...asked));
  change("activate", Activate, (...asked) => farm.activate(...asked));
  change("deactivate", Deactivate, (...asked) => farm.deactivate(...asked));
  verb("waive", Waive, (...asked) => farm.waive(...asked));

  verb("release", Release, (...asked) => farm.release(...asked));
  verb("customise", Customise, (...asked) => farm.customise(...asked), {
    bytes: 1024 * 1024,
    verb: "customise",
  });
  verb("clone", Clone, (...asked) => farm.clone(...asked));

  routes.get("/sets/:set", async (c) => {
    const set = await setId(farm, c.req.param("set"));
    return c.json(found(await farm.graphSet(set), `set ${set}`));
  });

  return routes;
}

async function setId(farm: Pick<Farm, "findSet">, written: string): Promise<string> {
  return found(await farm.findSet(written), `set "${written}"`);
}

/** What may be missing: the graph is there, or was there a moment ago; the job may never have been. */
function whatOf(id: string, request: unknown): string {
  const names = typeof request === "object" && request !== null && "job" in request;
  return names ? `job "${String(request.job)}" in graph ${id}` : `graph ${id}`;
}
