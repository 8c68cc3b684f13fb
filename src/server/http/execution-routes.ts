import { type Context, Hono } from "hono";
import { Fault } from "#core/fault.ts";
import { ExecutionId } from "#execution/execution.ts";
import { found } from "../handlers/found.ts";
import { eventStream } from "./event-stream.ts";
import type { Farm } from "./farm.ts";
import type { LogStream } from "./invocation-farm.ts";
import { logAnswer, mostLogBytes } from "./log-answer.ts";
import { logEvents, mostLogBytesPerEvent } from "./log-events.ts";
import { logPositionOf } from "./log-position.ts";

/** Executions, whoever asked for them. */
export function executionRoutes(farm: Farm): Hono {
  const routes = new Hono();

  routes.get("/executions/:id", async (c) => {
    const id = executionIdIn(c);
    return c.json(found(await farm.execution(id), describeExecution(id)));
  });

  routes.get("/executions/:id/log", async (c) => {
    const id = executionIdIn(c);
    const { offset } = logPositionOf(c);
    const piece = await farm.executionLog(id, streamOf(c), offset, mostLogBytes);
    return logAnswer(c, found(piece, describeExecution(id)));
  });

  routes.get("/executions/:id/log/events", async (c) => {
    const id = executionIdIn(c);
    const stream = streamOf(c);
    const from = logPositionOf(c);
    const ticket = farm.executionLogChanges(id);
    const read = async (offset: number) =>
      found(
        await farm.executionLog(id, stream, offset, mostLogBytesPerEvent),
        describeExecution(id),
      );
    return eventStream(c, ticket, logEvents(read, from));
  });

  return routes;
}

/** The execution that an address names. */
export function executionIdIn(c: Context): string {
  const written = c.req.param("id") ?? "";
  const id = ExecutionId.safeParse(written);
  if (id.success) return id.data;
  throw new Fault(
    "invalid_argument",
    `"${written.slice(0, 60)}" is no execution's id, which is a UUID`,
  );
}

export function describeExecution(id: string): string {
  return `execution ${id}; it may be so old that the farm dropped it`;
}

function streamOf(c: Context): LogStream {
  const stream = c.req.query("stream") ?? "stdout";
  if (stream === "stdout" || stream === "stderr") return stream;
  throw new Fault("invalid_argument", `stream is stdout or stderr, not "${stream.slice(0, 40)}"`);
}
