import { z } from "zod";
import type { ExpressionValue } from "./expression.ts";

/**
 * One job of a matrix: the value of `matrix.NAME`, by NAME. Values that are maps have entries such as `config.os`; lists
 * have one that no expression can name, because a list is not the same as no value.
 */
export type Combination = ReadonlyMap<string, ExpressionValue>;

/** More jobs would not be a useful start. */
const most = 64;

const Entry = z.record(z.string(), z.unknown());
const Matrix = z
  .object({ include: z.array(Entry).default([]), exclude: z.array(Entry).default([]) })
  .catchall(z.array(z.unknown()).min(1));

/** Returns the combinations of a matrix by GitHub's rules; undefined when it is computed, or has too many. */
export function combinationsOf(matrix: unknown): Combination[] | undefined {
  if (matrix === undefined) return [new Map()];
  const parsed = Matrix.safeParse(matrix);
  if (!parsed.success) return undefined;
  const { include, exclude, ...axes } = parsed.data;
  const hasAxes = Object.keys(axes).length > 0;
  let products: Record<string, unknown>[] = hasAxes ? [{}] : [];
  for (const [name, values] of Object.entries(axes)) {
    products = products.flatMap((product) =>
      values.map((value) => ({ ...product, [name]: value })),
    );
    if (products.length > most) return undefined;
  }
  products = products.filter(
    (product) => !exclude.some((entry) => agrees(product, entry, Object.keys(entry))),
  );
  const added: Record<string, unknown>[] = [];
  for (const entry of include) {
    const shared = Object.keys(entry).filter((name) => name in axes);
    const matching = products.filter((product) => agrees(product, entry, shared));
    if (hasAxes && matching.length > 0)
      for (const product of matching) Object.assign(product, entry);
    else added.push({ ...entry });
  }
  const all = [...products, ...added];
  return all.length === 0 || all.length > most ? undefined : all.map(flatten);
}

function agrees(
  product: Record<string, unknown>,
  entry: Record<string, unknown>,
  names: readonly string[],
): boolean {
  return names.every((name) => JSON.stringify(product[name]) === JSON.stringify(entry[name]));
}

function flatten(product: Readonly<Record<string, unknown>>): Combination {
  const flat = new Map<string, ExpressionValue>();
  const add = (name: string, value: unknown) => {
    if (Array.isArray(value)) flat.set(`${name}.[]`, null);
    else if (typeof value === "object" && value !== null) {
      for (const [key, inner] of Object.entries(value)) add(`${name}.${key}`, inner);
    } else if (value === null || typeof value === "number" || typeof value === "boolean") {
      flat.set(name, value);
    } else if (typeof value === "string") flat.set(name, value);
  };
  for (const [name, value] of Object.entries(product)) add(name, value);
  return flat;
}
