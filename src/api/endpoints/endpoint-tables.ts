import { z } from "zod";
import { describeRight } from "#core/right.ts";
import { type Endpoint, withParameters } from "../endpoint.ts";

/**
 * The tables of docs/http-api.md, in Markdown: one for each part of the HTTP API.
 *
 * `npm run docs` writes them into the document between its two markers; a test compares them.
 */
export function endpointTables(
  groups: readonly {
    readonly title: string;
    readonly endpoints: Readonly<Record<string, Endpoint>>;
  }[],
): string {
  return groups
    .map(({ title, endpoints }) =>
      [
        `### ${title}`,
        "",
        "| endpoint | right | takes → answers | |",
        "|---|---|---|---|",
        ...Object.values(endpoints).map(rowOf),
        "",
      ].join("\n"),
    )
    .join("\n");
}

/** The endpoints whose answers may lag, in a sentence of docs/http-api.md. */
export function laggingEndpoints(endpoints: Readonly<Record<string, Endpoint>>): string {
  const lagging = Object.values(endpoints).filter(({ mayLag }) => mayLag === true);
  return `${lagging.map((entry) => `\`${entry.method} ${pathOf(entry)}\``).join(", ")}.`;
}

function pathOf({ path }: Endpoint): string {
  return withParameters(path, (name) => name.replaceAll(/([A-Z])/g, "_$1").toUpperCase());
}

function rowOf(entry: Endpoint): string {
  const path = pathOf(entry);
  const query = entry.query === undefined ? [] : Object.keys(entry.query.shape);
  const written = query.length === 0 ? path : `${path}?${query.join("&")}`;
  const takes = entry.body === undefined ? "" : `${bodyName(entry)} → `;
  return `| \`${entry.method} ${written}\` | ${describeRight(entry.right)} | ${takes}${answerName(entry)} | ${entry.summary} |`;
}

function bodyName({ body }: Endpoint): string {
  if (body === undefined) return "";
  return body instanceof z.ZodType ? nameOf(body) : body.contentType;
}

function answerName({ answer }: Endpoint): string {
  const created = answer.kind === "json" && answer.created !== undefined;
  const status = created ? (answer.created === "always" ? ", 201" : ", 201 when new") : "";
  switch (answer.kind) {
    case "json":
      return nameOf(answer.shape) + status;
    case "events":
      return `events of ${nameOf(answer.shape)}`;
    case "bytes":
      return answer.contentType;
  }
}

function nameOf(shape: z.ZodType): string {
  const { id } = z.globalRegistry.get(shape) ?? {};
  if (id !== undefined) return `\`${id}\``;
  return shape instanceof z.ZodArray ? `${nameOf(shape.element as z.ZodType)}[]` : "JSON";
}
