import { type Context, type Env, Hono } from "hono";
import { stream } from "hono/streaming";
import { Fault } from "#core/fault.ts";
import { found } from "../handlers/found.ts";
import { asAttachment } from "./as-attachment.ts";
import { eventStream } from "./event-stream.ts";
import type { Farm, RunName } from "./farm.ts";
import { graphId } from "./graph-routes.ts";
import { noOptions } from "./json-body.ts";
import { logEvents, mostLogBytesPerEvent } from "./log-events.ts";
import { logPositionOf } from "./log-position.ts";
import { principalOf } from "./principal.ts";

/** One answer's share of a log; the client asks on from `X-Next-Offset`. */
const mostLogBytes = 4 * 1024 * 1024;

/** Jobs of a graph, their runs, logs and outputs. */
export function jobRoutes(farm: Farm): Hono {
  const routes = new Hono();

  routes.get("/graphs/:id/jobs/:name", async (c) => {
    const id = await graphId(farm, c.req.param("id"));
    const name = c.req.param("name");
    return c.json(found(await farm.job(id, name), `job "${name}" in graph ${id}`));
  });

  routes.post("/graphs/:id/jobs/:name/cancel", async (c) => {
    await noOptions(c);
    const id = await graphId(farm, c.req.param("id"));
    const name = c.req.param("name");
    const cancelled = await farm.cancelJob(id, name, principalOf(c));
    return c.json(found(cancelled, `job "${name}" in graph ${id}`));
  });

  routes.get("/graphs/:id/jobs/:name/runs/:run/log", async (c) => {
    const run = await loggedRun(farm, c);
    const { offset } = logPositionOf(c);
    const piece = found(await farm.log(run, offset, mostLogBytes), describeRun(run));
    c.header("content-type", "text/plain; charset=utf-8");
    c.header("x-next-offset", String(piece.nextOffset));
    c.header("x-log-attempt", String(piece.attempt));
    c.header("x-log-complete", String(piece.complete && piece.bytes.length < mostLogBytes));
    return c.body(new Uint8Array(piece.bytes).buffer);
  });

  routes.get("/graphs/:id/jobs/:name/runs/:run/log/events", async (c) => {
    const run = await loggedRun(farm, c);
    const from = logPositionOf(c);
    const ticket = await farm.logChanges(run);
    const read = async (offset: number) =>
      found(await farm.log(run, offset, mostLogBytesPerEvent), describeRun(run));
    return eventStream(c, ticket, logEvents(read, from));
  });

  routes.get("/graphs/:id/jobs/:name/runs/:run/outputs/:path{.+}", async (c) => {
    const run = await runName(farm, c.req.param());
    const path = c.req.param("path");
    const output = found(await farm.output(run, path), `output "${path}" of ${describeRun(run)}`);
    asAttachment(c, path, output.digest);
    return stream(c, async (body) => {
      for await (const chunk of output.chunks) await body.write(chunk);
    });
  });

  return routes;
}

/** The run that a path names, or that batch of it which the query names. */
async function loggedRun(
  farm: Farm,
  c: Context<Env, "/graphs/:id/jobs/:name/runs/:run/log">,
): Promise<RunName> {
  const run = await runName(farm, c.req.param());
  const batch = c.req.query("batch");
  return batch === undefined ? run : { ...run, batch: numberFromOne(batch, "batch") };
}

function numberFromOne(written: string, what: string): number {
  const number = Number(written);
  if (!Number.isInteger(number) || number < 1 || number > 2 ** 31 - 1) {
    const message = `"${written.slice(0, 40)}" is no ${what}; they are numbered from 1`;
    throw new Fault("invalid_argument", message);
  }
  return number;
}

/** The run that a path names. */
export async function runName(
  farm: Farm,
  parameters: { id: string; name: string; run: string },
): Promise<RunName> {
  const number = numberFromOne(parameters.run, "run");
  return { graphId: await graphId(farm, parameters.id), job: parameters.name, number };
}

export function describeRun(run: RunName): string {
  const batch = run.batch === undefined ? "" : `batch ${run.batch} of `;
  return `${batch}run ${run.number} of job "${run.job}" in graph ${run.graphId}`;
}
