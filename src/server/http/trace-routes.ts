import { Hono } from "hono";
import { stream } from "hono/streaming";
import { z } from "zod";
import { Fault } from "#core/fault.ts";
import { parseDuration } from "#graphs/definitions/duration.ts";
import type { TraceFarm } from "./trace-farm.ts";

const mostMs = 366 * 86_400_000;

const TraceQuery = z.object({
  since: z
    .string()
    .max(100)
    .default("7d")
    .transform((text) => parseDuration(text) ?? 0)
    .refine((ms) => ms > 0 && ms <= mostMs, "must be a duration up to 366d, such as 7d"),
});

/** The executions of the last days, for `grange simulate size-classes`. */
export function traceRoutes(farm: TraceFarm): Hono {
  const routes = new Hono();

  routes.get("/size-classes/trace", async (c) => {
    const query = TraceQuery.safeParse(c.req.query());
    if (!query.success) throw new Fault("invalid_argument", z.prettifyError(query.error));
    const lines = farm.sizeClassTrace(query.data.since)[Symbol.asyncIterator]();
    // What is wrong at once is answered with its status; later the connection breaks.
    const first = await lines.next();
    c.header("content-type", "application/jsonl; charset=utf-8");
    return stream(c, async (body) => {
      for (let next = first; next.done !== true; next = await lines.next()) {
        // Whoever left wants no more of it.
        if (body.aborted) break;
        await body.write(next.value);
      }
      await lines.return?.();
    });
  });

  return routes;
}
