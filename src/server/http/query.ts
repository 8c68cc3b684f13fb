import type { Context } from "hono";
import { z } from "zod";
import { Fault } from "#core/fault.ts";

/** Reads the query of a request. Throws `invalid_argument` that says which part is wrong. */
export function queryOf<Shape extends z.ZodType>(c: Context, shape: Shape): z.output<Shape> {
  const query = shape.safeParse(c.req.query());
  if (query.success) return query.data;
  throw new Fault("invalid_argument", z.prettifyError(query.error));
}
