import type { Context, Next } from "hono";
import { Fault } from "#core/fault.ts";

/**
 * Refuses GET requests whose query has parameters that their route does not read: one that is misspelt, or of another
 * version, is never ignored.
 *
 * A route tells by reading which parameters it knows, so that no list of them is kept beside it: each must read all of its
 * parameters before it answers, also those that another one makes needless. Nothing is lost when the answer is
 * thrown away: a GET changes nothing.
 *
 * Throws `invalid_argument` with the unknown parameter and those that were read. What the route itself refuses is told first.
 */
export async function knownQueryOnly(c: Context, next: Next): Promise<void> {
  if (c.req.method !== "GET" || !c.req.url.includes("?")) return next();
  const all = c.req.query();
  const read = new Set<string>();
  const query = (key?: string): unknown => {
    if (key === undefined) return notingReads(all, read);
    read.add(key);
    return Object.hasOwn(all, key) ? all[key] : undefined;
  };
  c.req.query = query as typeof c.req.query;
  await next();
  if (c.res.status >= 400) return;
  const unknown = Object.keys(all).find((key) => !read.has(key));
  if (unknown === undefined) return;
  await c.res.body?.cancel();
  const known = [...read].toSorted();
  const may =
    known.length === 0 ? "there are none here" : `known here: ${known.slice(0, 20).join(", ")}`;
  throw new Fault(
    "invalid_argument",
    `Unrecognized query parameter: ${JSON.stringify(unknown.slice(0, 200))}; ${may}`,
  );
}

/** The same record; who reads a key of it is noted, and who goes through all of them knows all. */
function notingReads(
  all: Readonly<Record<string, string>>,
  read: Set<string>,
): Readonly<Record<string, string>> {
  const note = (key: string | symbol) => {
    if (typeof key === "string") read.add(key);
  };
  return new Proxy(all, {
    get(record, key) {
      note(key);
      return Reflect.get(record, key);
    },
    has(record, key) {
      note(key);
      return Reflect.has(record, key);
    },
    ownKeys(record) {
      const keys = Reflect.ownKeys(record);
      for (const key of keys) note(key);
      return keys;
    },
  });
}
