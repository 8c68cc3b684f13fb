import { isDeepStrictEqual } from "node:util";
import { type Context, Hono } from "hono";
import { z } from "zod";
import { placesOf } from "#access/places-of.ts";
import type { Principal } from "#access/principal.ts";
import { requireRight, requireRightAt } from "#access/require-right.ts";
import type { BodyOf, Endpoint, ParamsOf, QueryOf } from "#api/endpoint.ts";
import { Fault } from "#core/fault.ts";
import type { Right } from "#core/right.ts";
import type { Db } from "#db/db.ts";
import type { RequestLimits } from "../request-limits/request-limits.ts";
import { jsonBody, noOptions, requireJson } from "./json-body.ts";
import type { NamingCall, ObjectFinders } from "./object-places.ts";
import { identifyAgain, principalOf } from "./principal.ts";
import { acceptedAgeMs, type Reading, readFromReplica } from "./read-from-replica.ts";
import { requesterOf } from "./requester-of.ts";

/** One call of an endpoint, with all of its parts parsed. */
interface Call<E extends Endpoint> {
  readonly params: ParamsOf<E>;
  readonly query: QueryOf<E>;
  readonly body: BodyOf<E>;
  readonly caller: Principal;
  /**
   * Returns the caller with its present rights, for answers that take a while. Throws what the call would be refused
   * with now.
   */
  readonly presentCaller: () => Promise<Principal>;
  /** For headers, streams, and bodies that are no JSON. */
  readonly context: Context;
  /** The database of an answer that may lag: a replica, or the primary. */
  readonly reads: E extends { readonly mayLag: true } ? Db : undefined;
}

/** The same type with read-only lists and objects. */
type Sendable<T> = T extends string | number | boolean | null | undefined
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Sendable<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: Sendable<T[Key]> }
      : T;

type AnswerOf<E extends Endpoint> = E extends {
  readonly answer: { readonly kind: "json"; readonly shape: infer S extends z.ZodType };
}
  ? E extends { readonly answer: { readonly created: "when new" } }
    ? { readonly isNew: boolean; readonly answer: Sendable<z.input<S>> }
    : Sendable<z.input<S>> | Response
  : Response;

/**
 * Handles an endpoint: returns the answer, or throws a `Fault`. It returns a `Response` instead of JSON when the answer
 * has headers of its own.
 */
type Handler<E extends Endpoint> = (call: Call<E>) => AnswerOf<E> | Promise<AnswerOf<E>>;

/** A handler for each entry of a part of the table, under the same name. */
export type HandlersFor<Table extends Readonly<Record<string, Endpoint>>> = {
  readonly [Name in keyof Table]: Handler<Table[Name]>;
};

// `HandlersFor` has matched entries and handlers; here, only the order of the steps matters.
type AnyHandler = (call: Call<Endpoint>) => unknown;

/** What the routes of a table need besides its handlers. */
interface ServeOptions {
  /** Returns the caller; throws when it was not identified. */
  readonly callerOf?: (c: Context) => Principal;
  /** For tables with rights at the place of an object. */
  readonly finders?: ObjectFinders;
  /** For tables with answers that may lag. */
  readonly reading?: Reading;
  /** Without them, no request is too many. */
  readonly limits?: RequestLimits;
}

/**
 * The routes of a table of endpoints.
 *
 * The only place that checks a call: first the right that the entry states, then the limit for its caller, then query,
 * body and path against their shapes, and the right at the place of the object that the call names. Then the handler runs. Routes without parameters
 * come first, so that `/catalogs/diff` is not read as a catalog named `diff`.
 */
export function serveEndpoints<Table extends Readonly<Record<string, Endpoint>>>(
  table: Table,
  handlers: HandlersFor<Table>,
  { callerOf = principalOf, finders, reading, limits }: ServeOptions = {},
): Hono {
  const routes = new Hono();
  const inOrder = Object.entries(table).toSorted(([, a], [, b]) => byFixedSegments(a.path, b.path));
  for (const [name, entry] of inOrder) {
    const handler = handlers[name] as unknown as AnyHandler;
    const serve = async (c: Context, caller: Principal) => {
      const written: Readonly<Record<string, string>> = c.req.param();
      const query = queryOf(entry, c.req.query());
      const body = await bodyOf(entry, c);
      const parsed = entry.params === undefined ? {} : (parse(entry.params, written) as object);
      const named = { params: { ...written, ...parsed }, query: query as NamingCall["query"] };
      const params = await checkPlace(caller, entry.right, named, finders);
      const presentCaller = rightsThatChange(
        caller,
        async (present) => {
          requireRight(present, entry.right);
          await checkPlace(present, entry.right, named, finders);
        },
        () => identifyAgain(c),
      );
      c.set("stillMay", presentCaller);
      const call = { params, query, body, caller, presentCaller, context: c };
      const answer = (reads?: Db) => handler({ ...call, reads } as unknown as Call<Endpoint>);
      const answered =
        entry.mayLag === true ? await readFromOne(reading, c, answer) : await answer();
      return respond(entry, c, answered);
    };
    routes.on(entry.method, entry.path, async (c: Context) => {
      const caller = callerOf(c);
      requireRight(caller, entry.right);
      if (limits === undefined) return serve(c, caller);
      const requester = requesterOf(c, caller);
      // A stream goes on when its handler has returned.
      if (entry.answer.kind === "events")
        c.set("beginStream", () => limits.begin("streams", requester));
      if (entry.limit === undefined) return serve(c, caller);
      const end = limits.begin(entry.limit, requester);
      try {
        return await serve(c, caller);
      } finally {
        end();
      }
    });
  }
  return routes;
}

/** Lets a handler read from the primary, or from a replica that is recent enough for the client. */
function readFromOne(
  reading: Reading | undefined,
  c: Context,
  read: (db: Db) => unknown,
): Promise<unknown> {
  if (reading === undefined) throw new Fault("internal", "no database to read from is given");
  return readFromReplica(reading, acceptedAgeMs(c.req.header("cache-control")), read);
}

/** Checks a right at the place of the object that a call names. Returns the parameters with its whole name. */
async function checkPlace(
  caller: Principal,
  right: Right,
  call: NamingCall,
  finders: ObjectFinders | undefined,
): Promise<NamingCall["params"]> {
  if (right.kind !== "at") return call.params;
  if (finders === undefined) throw new Fault("internal", "no finder of objects is given");
  // A caller that may act on an object knows of it, even if it may not read it.
  const visible = placesOf(caller, ["read", ...right.verbs]);
  const { places, params = {} } = await finders[right.object](call, visible);
  requireRightAt(caller, right.verbs, places);
  return { ...call.params, ...params };
}

/** Returns a function that returns the caller with its present rights, and checks them when they have changed. */
function rightsThatChange(
  first: Principal,
  check: (present: Principal) => Promise<void>,
  identify: () => Promise<Principal>,
): () => Promise<Principal> {
  let known = first;
  return async () => {
    const present = await identify();
    if (isDeepStrictEqual(present.grants, known.grants)) return present;
    await check(present);
    known = present;
    return present;
  };
}

function respond({ answer, path }: Endpoint, c: Context, answered: unknown): Response {
  if (answered instanceof Response) return answered;
  if (answer.kind !== "json") throw new Fault("internal", `${path} answered without a stream`);
  const { created } = answer;
  if (created === undefined) return c.json(answered as object);
  if (created === "always") return c.json(answered as object, 201);
  const { isNew, answer: body } = answered as { isNew: boolean; answer: object };
  return c.json(body, isNew ? 201 : 200);
}

async function bodyOf({ method, body, largeBody }: Endpoint, c: Context): Promise<unknown> {
  if (method === "GET") return undefined;
  // The handler reads a body that is not JSON.
  if (body !== undefined && !(body instanceof z.ZodType)) return undefined;
  requireJson(c);
  if (body !== undefined) return jsonBody(c, body, largeBody);
  await noOptions(c);
  return undefined;
}

/**
 * Refuses parameters that the entry does not name: a misspelt parameter, or one of another version, is never ignored.
 */
function queryOf({ query }: Endpoint, written: Readonly<Record<string, string>>): unknown {
  const known = query === undefined ? [] : Object.keys(query.shape).toSorted();
  const unknown = Object.keys(written).find((key) => !known.includes(key));
  if (unknown !== undefined) {
    const may = known.length === 0 ? "there are none here" : `known here: ${known.join(", ")}`;
    throw new Fault(
      "invalid_argument",
      `Unrecognized query parameter: ${JSON.stringify(unknown.slice(0, 200))}; ${may}`,
    );
  }
  return query === undefined ? {} : parse(query, written);
}

function parse(shape: z.ZodType, value: unknown): unknown {
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Fault("invalid_argument", z.prettifyError(parsed.error));
}

/** Fixed segments come before parameters; a longer path comes before a shorter one. */
function byFixedSegments(a: string, b: string): number {
  const left = a.split("/");
  const right = b.split("/");
  for (const [at, segment] of left.entries()) {
    const other = right[at];
    if (other === undefined) return -1;
    const difference = Number(segment.startsWith(":")) - Number(other.startsWith(":"));
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
