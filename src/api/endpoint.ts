import type { z } from "zod";
import type { Right } from "#core/right.ts";
import type { Verb } from "#core/verb.ts";
import type { LimitName } from "./request-limits.ts";

/**
 * One HTTP endpoint, as an entry of the table of endpoints (`endpoints/`).
 *
 * The server's route and checks, the typed calls of command line and pages, the OpenAPI document, and docs/http-api.md
 * are derived from the entry. Its handler has the same name in `src/server/handlers/`.
 */
export interface Endpoint {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below `/api/v1`. A parameter is `:name`; the last one may be `:name{.+}`, which also matches slashes. */
  readonly path: `/${string}`;
  /** Checked before the query and the body are read, and before the handler runs. */
  readonly right: Right;
  /** A description in Markdown: for docs/http-api.md and OpenAPI. */
  readonly summary: string;
  /** Shapes of path parameters that may not be arbitrary text. */
  readonly params?: z.ZodObject;
  /** Parameters that are not named here are refused. No shape: the endpoint has no parameters. */
  readonly query?: z.ZodObject;
  /** Keys that are not named here are refused, at any depth. No shape: no body, or `{}`. */
  readonly body?: z.ZodType | OtherBody;
  /** For bodies that may be larger than 64 KiB. */
  readonly largeBody?: LargeBody;
  /** The limit for one caller, besides that of streams of events, which all of them have. */
  readonly limit?: LimitName;
  /**
   * The answer may be read from a replica of the database, if the client accepts an older one (`max-stale`). For pages
   * and searches, never for what a change is decided by.
   */
  readonly mayLag?: true;
  readonly answer: Answer;
}

/** The limit of an endpoint whose bodies may be larger than 64 KiB. */
export interface LargeBody {
  readonly bytes: number;
  /** Only callers with this right may send more than 64 KiB. */
  readonly verb: Verb;
}

/** A body that is no JSON: the handler reads it as a stream. */
export interface OtherBody {
  readonly contentType: string;
}

export type Answer =
  | {
      readonly kind: "json";
      readonly shape: z.ZodType;
      /** 201: `always`, or when the handler reports a new object; else 200. */
      readonly created?: "always" | "when new";
    }
  /** Server-sent events; their data has this shape. */
  | { readonly kind: "events"; readonly shape: z.ZodType }
  /** Bytes of this type. */
  | { readonly kind: "bytes"; readonly contentType: string };

/** Keeps the exact types of an entry; the types of handlers and calls are derived from them. */
export function endpoint<const E extends Endpoint>(entry: E): E {
  return entry;
}

export function json<Shape extends z.ZodType>(shape: Shape) {
  return { kind: "json", shape } as const;
}

/** Answers with status 201. */
export function created<Shape extends z.ZodType>(shape: Shape) {
  return { kind: "json", shape, created: "always" } as const;
}

/** Answers with status 201 for a new object, and else with 200. */
export function createdWhenNew<Shape extends z.ZodType>(shape: Shape) {
  return { kind: "json", shape, created: "when new" } as const;
}

export function events<Shape extends z.ZodType>(shape: Shape) {
  return { kind: "events", shape } as const;
}

export function bytes(contentType = "application/octet-stream") {
  return { kind: "bytes", contentType } as const;
}

/** The names of the parameters in a path. */
type ParameterNames<Path extends string> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer More}`
    ? NameOnly<Name> | ParameterNames<`/${More}`>
    : NameOnly<Rest>
  : never;
type NameOnly<Written extends string> = Written extends `${infer Name}{${string}}` ? Name : Written;

/** The parameters of a path, as a handler gets them. */
export type ParamsOf<E extends Endpoint> = {
  readonly [Name in ParameterNames<E["path"]>]: E extends {
    readonly params: infer P extends z.ZodObject;
  }
    ? Name extends keyof z.output<P>
      ? z.output<P>[Name]
      : string
    : string;
};

/** The query as a handler gets it. */
export type QueryOf<E extends Endpoint> = E extends { readonly query: infer Q extends z.ZodObject }
  ? Readonly<z.output<Q>>
  : Readonly<Record<never, never>>;

/** The body as a handler gets it. */
export type BodyOf<E extends Endpoint> = E extends { readonly body: infer B extends z.ZodType }
  ? z.output<B>
  : undefined;

/** The type of a client's result. */
export type ResultOf<E extends Endpoint> = E extends {
  readonly answer: { readonly kind: "json"; readonly shape: infer S extends z.ZodType };
}
  ? z.output<S>
  : never;

/** The type of a client's input: only the parts that the entry has. */
export type CallInput<E extends Endpoint> = ([ParameterNames<E["path"]>] extends [never]
  ? unknown
  : { readonly params: { readonly [Name in ParameterNames<E["path"]>]: string } }) &
  (E extends { readonly query: infer Q extends z.ZodObject }
    ? Partial<QueryInput<Q>> extends QueryInput<Q>
      ? { readonly query?: QueryInput<Q> }
      : { readonly query: QueryInput<Q> }
    : unknown) &
  (E extends { readonly body: infer B extends z.ZodType }
    ? { readonly body: z.input<B> }
    : unknown);

/** The types of a query parameter. */
type QueryText = string | number | boolean | undefined;

/** `CallInput` of any entry. */
export interface AnyCallInput {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, QueryText>>;
  readonly body?: unknown;
}

/** A parameter that is parsed from text may be given in its parsed form. */
type QueryInput<Q extends z.ZodObject> = {
  readonly [Key in keyof z.input<Q>]: QueryValue<
    z.input<Q>[Key],
    Key extends keyof z.output<Q> ? z.output<Q>[Key] : never
  >;
};
type QueryValue<In, Out> = (unknown extends In ? Out : In) | undefined;

/** Returns the path with each parameter replaced by the result of `write`. `takesSlashes` is true for `:name{.+}`. */
export function withParameters(
  path: string,
  write: (name: string, takesSlashes: boolean) => string,
): string {
  return path.replaceAll(/:([a-zA-Z]+)(\{[^}]*\})?/g, (_, name: string, pattern?: string) =>
    write(name, pattern !== undefined),
  );
}

/** Returns the path of a call below `/api/v1`, with its query. */
export function pathOfCall(
  { path }: Pick<Endpoint, "path">,
  params: Readonly<Record<string, string>> = {},
  query: Readonly<Record<string, QueryText>> = {},
): string {
  const filled = withParameters(path, (name, takesSlashes) => {
    const value = params[name] ?? "";
    return takesSlashes
      ? value.split("/").map(encodeURIComponent).join("/")
      : encodeURIComponent(value);
  });
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? filled : `${filled}?${new URLSearchParams(given).toString()}`;
}
