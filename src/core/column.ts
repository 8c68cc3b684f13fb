import { z } from "zod";

/** What the values of a column are, for the description of the API. */
interface ItemSchema {
  readonly type: string | readonly string[];
  readonly minimum?: number;
  readonly enum?: readonly (string | null)[];
}

/**
 * Returns the shape of a list of thousands of plain values, which are checked in one loop.
 *
 * Pages check answers without compiled code, which their content policy forbids. `z.array` then calls several functions
 * for each value: 80,000 values took 30 to 140 ms, and more the first time.
 */
function column<T>(schema: ItemSchema, isItem: (value: unknown) => value is T): z.ZodType<T[]> {
  const isColumn = (value: unknown) => Array.isArray(value) && value.every(isItem);
  return z
    .custom<T[]>(isColumn, `Invalid input: expected an array of ${String(schema.type)}`)
    .meta({ type: "array", items: schema });
}

const isNumber = (value: unknown): value is number =>
  typeof value === "number" && Number.isFinite(value);

export const NumberColumn = column({ type: "number" }, isNumber);

export const NullableNumberColumn = column(
  { type: ["number", "null"] },
  (value): value is number | null => value === null || isNumber(value),
);

/** Indexes of another list. */
export const IndexColumn = column(
  { type: "integer", minimum: 0 },
  (value): value is number => Number.isSafeInteger(value) && Number(value) >= 0,
);

export const StringColumn = column(
  { type: "string" },
  (value): value is string => typeof value === "string",
);

export function enumColumn<const T extends string>(values: z.ZodType<T> & { options: T[] }) {
  const known: ReadonlySet<unknown> = new Set(values.options);
  const isItem = (value: unknown): value is T => known.has(value);
  return column({ type: "string", enum: values.options }, isItem);
}

export function nullableEnumColumn<const T extends string>(
  values: z.ZodType<T> & { options: T[] },
) {
  const known: ReadonlySet<unknown> = new Set([...values.options, null]);
  const isItem = (value: unknown): value is T | null => known.has(value);
  return column({ type: ["string", "null"], enum: [...values.options, null] }, isItem);
}
