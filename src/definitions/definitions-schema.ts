import { z } from "zod";
import { DefinitionFileInFull } from "./definition-file.ts";

type Schema = Record<string, unknown>;

/**
 * Returns the JSON Schema of `.grange/*.yml`, for completion and checks in editors.
 *
 * It describes files before their placeholders are filled: in jobs, a JSON-e construct or a text with `${…}` may stand
 * in place of any value.
 */
export function definitionsSchema(): Schema {
  const plain = z.toJSONSchema(DefinitionFileInFull, {
    io: "input",
    // JSON Schema cannot express checks that are code, such as those of durations; the farm checks them.
    unrepresentable: "any",
    reused: "inline",
  });
  const { properties, $defs, ...top } = JSON.parse(JSON.stringify(plain)) as Schema & {
    properties: Record<string, Schema>;
    $defs?: Schema;
  };
  return {
    ...top,
    $id: "https://grange.invalid/schema/definitions.json",
    title: "Grange definitions",
    properties: { ...properties, jobs: withHoles(properties["jobs"] ?? {}) },
    $defs: { ...$defs, jsonE: jsonEConstruct, hole: textWithHole },
  };
}

const jsonEConstruct: Schema = {
  description: "A JSON-e construct: $if, $map, $merge, $eval, …",
  type: "object",
  patternProperties: { "^\\$[a-zA-Z]": {} },
  minProperties: 1,
  propertyNames: {
    pattern: "^(\\$[a-zA-Z]+|then|else|in|default|(each|by)\\(.*\\))$",
  },
};

const textWithHole: Schema = {
  description: "A text with an expression: ${expression}",
  type: "string",
  pattern: "\\$\\{",
};

/**
 * Returns the schema extended so that it allows a construct or a placeholder at this place and at all places within.
 */
function withHoles(schema: Schema): Schema {
  const { description, ...inner } = schema;
  const about = description === undefined ? {} : { description };
  const within = insideWithHoles(inner);
  const alternatives =
    Array.isArray(within["anyOf"]) && Object.keys(within).length === 1 ? within["anyOf"] : [within];
  return {
    ...about,
    anyOf: [...alternatives, { $ref: "#/$defs/hole" }, { $ref: "#/$defs/jsonE" }],
  };
}

function insideWithHoles(schema: Schema): Schema {
  // A job's name may contain a placeholder, and is checked after filling.
  const { propertyNames: _, ...result } = schema;
  for (const key of ["items", "additionalProperties"]) {
    const part = result[key];
    if (isSchema(part)) result[key] = withHoles(part);
  }
  if (isSchema(result["properties"])) {
    result["properties"] = Object.fromEntries(
      Object.entries(result["properties"]).map(([key, part]) => [
        key,
        isSchema(part) ? withHoles(part) : part,
      ]),
    );
  }
  if (Array.isArray(result["anyOf"]))
    result["anyOf"] = result["anyOf"].map((part) =>
      isSchema(part) ? insideWithHoles(part) : part,
    );
  return result;
}

function isSchema(part: unknown): part is Schema {
  return typeof part === "object" && part !== null && !Array.isArray(part);
}
