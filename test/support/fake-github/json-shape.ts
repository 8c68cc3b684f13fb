/** A JSON schema with the features that GitHub's description of its API uses (OpenAPI 3.0). */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly allOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly format?: string;
}

/** Returns the deviations of a value from a schema, each with its place. */
export function strays(
  value: unknown,
  schema: JsonSchema,
  named: (ref: string) => JsonSchema,
  place = "$",
): string[] {
  if (schema.$ref !== undefined) return strays(value, named(schema.$ref), named, place);
  // GitHub writes `nullable-x` for values that may be null, in addition to `nullable` itself.
  if (value === null && schema.nullable === true) return [];
  const found: string[] = [];
  for (const part of schema.allOf ?? []) found.push(...strays(value, part, named, place));
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) {
    const tried = choices.map((choice) => strays(value, choice, named, place));
    const best = tried.sort((a, b) => a.length - b.length)[0] ?? [];
    found.push(...best);
  }
  if (schema.enum !== undefined && !schema.enum.includes(value))
    found.push(`${place}: ${JSON.stringify(value)} is none of ${JSON.stringify(schema.enum)}`);
  if (schema.type !== undefined && !isOfType(value, schema.type)) {
    found.push(`${place}: ${value === null ? "null" : typeof value}, not ${schema.type}`);
    return found;
  }
  if (schema.format === "date-time" && Number.isNaN(Date.parse(String(value))))
    found.push(`${place}: no time`);
  if (schema.format === "uri" && !URL.canParse(String(value))) found.push(`${place}: no address`);
  if (Array.isArray(value) && schema.items !== undefined)
    for (const [at, item] of value.entries())
      found.push(...strays(item, schema.items, named, `${place}[${at}]`));
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    const fields = value as Readonly<Record<string, unknown>>;
    for (const name of schema.required ?? [])
      if (fields[name] === undefined) found.push(`${place}.${name} is missing`);
    for (const [name, field] of Object.entries(fields)) {
      const known = schema.properties?.[name];
      if (known !== undefined && field !== undefined)
        found.push(...strays(field, known, named, `${place}.${name}`));
      // Fields that the description does not contain would let a client depend on fields that do
      // not exist.
      else if (known === undefined && schema.properties !== undefined && !takesMore(schema))
        found.push(`${place}.${name} is not described`);
    }
  }
  return found;
}

const takesMore = (schema: JsonSchema) =>
  (schema.additionalProperties !== undefined && schema.additionalProperties !== false) ||
  schema.allOf !== undefined ||
  schema.anyOf !== undefined;

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case "integer":
      return typeof value === "bigint" || Number.isInteger(value);
    case "number":
      return typeof value === "number";
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}

/**
 * Returns the differences in shape between a value and an example: missing fields, and fields of
 * another type.
 */
export function shapeStrays(value: unknown, example: unknown, place = "$"): string[] {
  // Null or an empty list in an example does not show which other values are possible.
  if (example === null || value === null) return [];
  if (Array.isArray(example))
    return Array.isArray(value)
      ? value.flatMap((item, at) =>
          example.length === 0 ? [] : shapeStrays(item, example[0], `${place}[${at}]`),
        )
      : [`${place}: no list`];
  if (typeof example === "object") {
    if (typeof value !== "object" || Array.isArray(value)) return [`${place}: no object`];
    const fields = value as Readonly<Record<string, unknown>>;
    return Object.entries(example as object).flatMap(([name, field]) =>
      fields[name] === undefined
        ? [`${place}.${name} is missing`]
        : shapeStrays(fields[name], field, `${place}.${name}`),
    );
  }
  return typeof value === typeof example
    ? []
    : [`${place}: ${typeof value}, not ${typeof example}`];
}
