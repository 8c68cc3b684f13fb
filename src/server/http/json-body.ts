import type { Context } from "hono";
import { z } from "zod";
import { Fault } from "#core/fault.ts";

/** Definitions sent along are the largest thing that anybody posts. */
const mostBytes = 48 * 1024 * 1024;

/**
 * Refuses what does not call itself JSON, also where nobody reads the body.
 *
 * A page of another origin cannot send `application/json` without asking first, and
 * is not answered when it asks; plain text it could send to cancel a graph.
 */
export function requireJson(c: Context): void {
  const type = c.req.header("content-type") ?? "";
  if (!/^application\/json\b/i.test(type)) {
    throw new Fault("invalid_argument", "send the body as Content-Type: application/json");
  }
}

/** Reads a request's body in the shape it must have. */
export async function jsonBody<Shape extends z.ZodType>(
  c: Context,
  shape: Shape,
): Promise<z.output<Shape>> {
  if (Number(c.req.header("content-length") ?? 0) > mostBytes) tooLarge();
  const text = await c.req.text();
  if (text.length > mostBytes) tooLarge();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    throw new Fault("invalid_argument", "the body is not JSON", { cause });
  }
  const parsed = shape.safeParse(body);
  if (!parsed.success) throw new Fault("invalid_argument", z.prettifyError(parsed.error));
  return parsed.data;
}

function tooLarge(): never {
  throw new Fault("resource_exhausted", `a body may have at most ${mostBytes} bytes`);
}
