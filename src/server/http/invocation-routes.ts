import { type Context, Hono } from "hono";
import { z } from "zod";
import { InvocationActionState } from "#api/invocation.ts";
import { found } from "../handlers/found.ts";
import { eventStream } from "./event-stream.ts";
import type { Farm } from "./farm.ts";
import type { InvocationAddress } from "./invocation-farm.ts";
import { noOptions } from "./json-body.ts";
import { logAnswer, mostLogBytes } from "./log-answer.ts";
import { logEvents, mostLogBytesPerEvent } from "./log-events.ts";
import { logPositionOf } from "./log-position.ts";
import { principalOf } from "./principal.ts";
import { queryOf } from "./query.ts";

const ListQuery = z.object({
  project: z.string().optional(),
  commit: z.string().optional(),
  before: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

const ActionsQuery = z.object({
  state: InvocationActionState.optional(),
  text: z.string().max(1_000).optional(),
  after: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(1_000).default(200),
});

/** Goes of build tools. */
export function invocationRoutes(farm: Farm): Hono {
  const routes = new Hono();

  routes.get("/invocations", async (c) => {
    const { project, commit, before, limit } = queryOf(c, ListQuery);
    return c.json(await farm.invocations({ project, commit, before, limit }));
  });

  routes.get("/invocations/:id", async (c) => {
    const address = addressOf(c);
    return c.json(found(await farm.invocation(address), describe(address)));
  });

  routes.get("/invocations/:id/actions", async (c) => {
    const address = addressOf(c);
    const { state, text, after, limit } = queryOf(c, ActionsQuery);
    const query = { ...address, state, text, after, limit };
    return c.json(found(await farm.invocationActions(query), describe(address)));
  });

  routes.get("/invocations/:id/log", async (c) => {
    const address = addressOf(c);
    const { offset } = logPositionOf(c);
    return logAnswer(
      c,
      found(await farm.invocationLog(address, offset, mostLogBytes), describe(address)),
    );
  });

  routes.get("/invocations/:id/log/events", async (c) => {
    const address = addressOf(c);
    const from = logPositionOf(c);
    const read = async (offset: number) =>
      found(await farm.invocationLog(address, offset, mostLogBytesPerEvent), describe(address));
    return eventStream(c, farm.invocationLogChanges(), logEvents(read, from));
  });

  routes.post("/invocations/:id/cancel", async (c) => {
    await noOptions(c);
    const address = addressOf(c);
    return c.json(found(await farm.cancelInvocation(address, principalOf(c)), describe(address)));
  });

  return routes;
}

function addressOf(c: Context): InvocationAddress {
  return { project: c.req.query("project") ?? "default", id: c.req.param("id") ?? "" };
}

function describe({ project, id }: InvocationAddress): string {
  return `invocation "${id}" in project "${project}"`;
}
