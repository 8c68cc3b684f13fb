import { z } from "zod";
import { type Endpoint, withParameters } from "#api/endpoint.ts";
import { Failure } from "#api/failure.ts";
import { describeRight } from "#core/right.ts";

type Schema = Readonly<Record<string, unknown>>;

/**
 * The OpenAPI 3.1 document of a table of endpoints (https://spec.openapis.org/oas/v3.1.1.html).
 *
 * Shapes of bodies and answers that have an id (`.meta({ id })`) become components of that name. `x-grange-right` is
 * the right that the endpoint checks first.
 */
export function openApiDocument(
  table: Readonly<Record<string, Endpoint>>,
  version: string,
): Schema {
  const entries = Object.entries(table);
  const answers = componentsOf(
    [
      Failure,
      ...entries.flatMap(([, { answer }]) => (answer.kind === "bytes" ? [] : [answer.shape])),
    ],
    "output",
  );
  const bodies = componentsOf(
    entries.flatMap(([, { body }]) => (body instanceof z.ZodType ? [body] : [])),
    "input",
  );
  const paths: Record<string, Record<string, Schema>> = {};
  for (const [name, entry] of entries) {
    const path = withParameters(entry.path, (name) => `{${name}}`);
    paths[path] = {
      ...paths[path],
      [entry.method.toLowerCase()]: operationOf(name, entry, answers, bodies),
    };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Grange", version, license: { name: "Apache-2.0", identifier: "Apache-2.0" } },
    servers: [{ url: "/api/v1" }],
    security: [{}, { token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: { ...answers.schemas, ...bodies.schemas },
    },
  };
}

interface Components {
  readonly schemas: Readonly<Record<string, Schema>>;
  /** Returns the reference to the schema of a shape. */
  refTo(shape: z.ZodType): Schema;
}

/** Returns the schemas of shapes, each once. Input and output differ for a shape with defaults. */
function componentsOf(shapes: readonly z.ZodType[], io: "input" | "output"): Components {
  const registry = z.registry<{ id: string }>();
  const suffix = io === "input" ? "Request" : "";
  const named = new Map<z.ZodType, string>();
  for (const shape of new Set(shapes)) {
    const id = `${nameOf(shape) ?? `Unnamed${named.size + 1}`}${suffix}`;
    registry.add(shape, { id });
    named.set(shape, id);
  }
  const uri = (id: string) => `#/components/schemas/${id}`;
  const { schemas } = z.toJSONSchema(registry, { io, uri, unrepresentable: "any" });
  return {
    schemas: Object.fromEntries(
      Object.entries(schemas).map(([id, schema]) => [
        id === "__shared" ? `Shared${suffix}` : id,
        withinDocument(schema as Schema, `Shared${suffix}`),
      ]),
    ),
    refTo: (shape) => ({ $ref: uri(named.get(shape) ?? "") }),
  };
}

function nameOf(shape: z.ZodType): string | undefined {
  const { id } = z.globalRegistry.get(shape) ?? {};
  if (id !== undefined || !(shape instanceof z.ZodArray)) return id;
  const element = nameOf(shape.element as z.ZodType);
  return element === undefined ? undefined : `${element}List`;
}

/** Within a document the location of a schema is its id, and a schema that several others share is a component, too. */
function withinDocument(
  { $schema: _schema, $id: _id, id: _name, ...schema }: Schema,
  shared: string,
): Schema {
  const text = JSON.stringify(schema);
  return JSON.parse(text.replaceAll("/__shared#/$defs/", `/${shared}/$defs/`)) as Schema;
}

function operationOf(
  operationId: string,
  entry: Endpoint,
  answers: Components,
  bodies: Components,
): Schema {
  return {
    operationId,
    summary: entry.summary,
    "x-grange-right": describeRight(entry.right),
    parameters: [...pathParameters(entry), ...queryParameters(entry)],
    ...requestBody(entry, bodies),
    responses: {
      [entry.answer.kind === "json" && entry.answer.created === "always" ? "201" : "200"]: answerOf(
        entry,
        answers,
      ),
      ...(entry.answer.kind === "json" && entry.answer.created === "when new"
        ? { "201": answerOf(entry, answers) }
        : {}),
      default: {
        description: "A failure, with a code, a sentence, and what to do.",
        content: { "application/json": { schema: answers.refTo(Failure) } },
      },
    },
  };
}

function pathParameters({ path }: Endpoint): readonly Schema[] {
  return Array.from(path.matchAll(/:([a-zA-Z]+)/g), ([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

function queryParameters({ query }: Endpoint): readonly Schema[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = z.toJSONSchema(query, {
    io: "input",
    unrepresentable: "any",
  });
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
  }));
}

function requestBody({ body }: Endpoint, bodies: Components): Schema {
  if (body === undefined) return {};
  const content =
    body instanceof z.ZodType
      ? { "application/json": { schema: bodies.refTo(body) } }
      : { [body.contentType]: {} };
  return { requestBody: { required: true, content } };
}

function answerOf({ answer }: Endpoint, answers: Components): Schema {
  switch (answer.kind) {
    case "json":
      return {
        description: "The answer.",
        content: { "application/json": { schema: answers.refTo(answer.shape) } },
      };
    case "events":
      return {
        description: "Server-sent events; the data of each is of this schema.",
        content: { "text/event-stream": { schema: answers.refTo(answer.shape) } },
      };
    case "bytes":
      return { description: "Bytes.", content: { [answer.contentType]: {} } };
  }
}
