import * as core from "zod/v4/core";

/** A key of a request that its schema does not know. */
export interface UnknownKey {
  /** The path of the object with the key; empty for the whole body. */
  readonly path: readonly (string | number)[];
  readonly key: string;
  /** The keys that the object may have. */
  readonly known: readonly string[];
}

/**
 * Returns the keys of a value that its schema would drop or refuse.
 *
 * A schema made with `z.object` drops unknown keys, so that a misspelt option would be ignored without an error. Here
 * all objects are strict, also nested ones, except `z.looseObject` and objects with a catchall, which allow other keys.
 *
 * For a union, the option that knows the most keys is used.
 */
export function unknownKeys(schema: core.$ZodType, value: unknown): UnknownKey[] {
  return [...walk(schema, value, [])];
}

type Path = readonly (string | number)[];

function* walk(schema: core.$ZodType, value: unknown, path: Path): Generator<UnknownKey> {
  if (schema instanceof core.$ZodObject) {
    if (isRecord(value)) yield* walkObject(schema._zod.def, value, path);
  } else if (schema instanceof core.$ZodArray) {
    if (!Array.isArray(value)) return;
    for (const [n, item] of value.entries())
      yield* walk(schema._zod.def.element, item, [...path, n]);
  } else if (schema instanceof core.$ZodTuple) {
    if (!Array.isArray(value)) return;
    const { items, rest } = schema._zod.def;
    for (const [n, item] of value.entries()) {
      const of = items[n] ?? rest;
      if (of) yield* walk(of, item, [...path, n]);
    }
  } else if (schema instanceof core.$ZodRecord) {
    if (!isRecord(value)) return;
    const { valueType } = schema._zod.def;
    for (const [key, item] of Object.entries(value)) yield* walk(valueType, item, [...path, key]);
  } else if (schema instanceof core.$ZodUnion) {
    yield* ofNearest(schema._zod.def.options, value, path);
  } else if (schema instanceof core.$ZodIntersection) {
    const { left, right } = schema._zod.def;
    yield* ofBoth(left, right, value, path);
  } else {
    const inner = innerOf(schema);
    if (inner !== undefined) yield* walk(inner, value, path);
  }
}

/** Returns the schema that another one wraps for the same value; undefined for scalars and for any JSON. */
function innerOf(schema: core.$ZodType): core.$ZodType | undefined {
  if (schema instanceof core.$ZodPipe) return schema._zod.def.in;
  if (schema instanceof core.$ZodLazy) return schema._zod.def.getter();
  if (
    schema instanceof core.$ZodOptional ||
    schema instanceof core.$ZodNullable ||
    schema instanceof core.$ZodDefault ||
    schema instanceof core.$ZodPrefault ||
    schema instanceof core.$ZodNonOptional ||
    schema instanceof core.$ZodReadonly ||
    schema instanceof core.$ZodCatch
  ) {
    return schema._zod.def.innerType;
  }
  return undefined;
}

function* walkObject(
  { shape, catchall }: core.$ZodObjectDef,
  value: Readonly<Record<string, unknown>>,
  path: Path,
): Generator<UnknownKey> {
  const isLoose = catchall !== undefined && !(catchall instanceof core.$ZodNever);
  for (const [key, item] of Object.entries(value)) {
    const of = Object.hasOwn(shape, key) ? shape[key] : undefined;
    if (of !== undefined) yield* walk(of, item, [...path, key]);
    else if (!isLoose) yield { path, key, known: Object.keys(shape) };
  }
}

/** Returns the unknown keys of the option that knows the most keys, among the options that may match the value. */
function ofNearest(
  options: readonly core.$ZodType[],
  value: unknown,
  path: Path,
): readonly UnknownKey[] {
  const meant = options.filter((option) => mayBeMeant(option, value));
  return (
    meant
      .map((option) => [...walk(option, value, path)])
      .toSorted((a, b) => a.length - b.length)[0] ?? []
  );
}

/** Whether a value may match an option of a union: by its kind, and by its discriminators. */
function mayBeMeant(option: core.$ZodType, value: unknown): boolean {
  if (!(option instanceof core.$ZodObject)) {
    return (
      !isRecord(value) || option instanceof core.$ZodUnion || option instanceof core.$ZodRecord
    );
  }
  if (!isRecord(value)) return false;
  return Object.entries(option._zod.def.shape).every(
    ([key, of]) =>
      !(of instanceof core.$ZodLiteral) ||
      !Object.hasOwn(value, key) ||
      of._zod.def.values.some((literal) => literal === value[key]),
  );
}

/** A key is known if one side knows it. */
function ofBoth(
  left: core.$ZodType,
  right: core.$ZodType,
  value: unknown,
  path: Path,
): readonly UnknownKey[] {
  const others = [...walk(right, value, path)];
  const same = (a: UnknownKey, b: UnknownKey) =>
    a.key === b.key && a.path.join("\0") === b.path.join("\0");
  return [...walk(left, value, path)].filter((one) => others.some((other) => same(one, other)));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
