import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
} from "yaml";

/** Both count from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/**
 * Returns the offset in the text of the part at `path`, or of the nearest part around it.
 *
 * The path refers to rendered values: at constructs such as `$if` and `$merge`, the search continues in their branches;
 * if no branch contains the part literally, the construct itself is returned.
 */
export function placeOf(
  document: Document,
  path: readonly PropertyKey[],
  of: "key" | "value",
): number {
  const found = follow(document, document.contents, path);
  const wanted = of === "value" && found.depth === path.length ? found.value : found.key;
  return wanted ?? found.value ?? 0;
}

/** Returns the offsets of the entries of the map under a top-level key; none when it is not a map. */
export function offsetsOfEntries(document: Document, key: string): Map<string, number> {
  const map = isMap(document.contents) ? childOf(document.contents, key) : undefined;
  const entries = isPair(map) && isMap(map.value) ? map.value.items : [];
  return new Map(
    entries.flatMap((pair) => {
      const offset = offsetOf(pair.key);
      return offset === undefined || !isScalar(pair.key) ? [] : [[String(pair.key.value), offset]];
    }),
  );
}

interface Found {
  /** The number of found parts of the path. */
  readonly depth: number;
  /** Offset of the last part's key; a list's items have none. */
  readonly key?: number | undefined;
  readonly value: number | undefined;
}

function follow(document: Document, node: unknown, path: readonly PropertyKey[]): Found {
  const target = isAlias(node) ? node.resolve(document) : node;
  const [next, ...rest] = path;
  let best: Found = { depth: 0, value: offsetOf(node) };
  if (next === undefined) return best;
  const item = childOf(target, next);
  if (item !== undefined) {
    const inner = follow(document, isPair(item) ? item.value : item, rest);
    if (inner.depth > 0) return { ...inner, depth: inner.depth + 1 };
    return { depth: 1, key: isPair(item) ? offsetOf(item.key) : undefined, value: inner.value };
  }
  for (const branch of branchesOf(target)) {
    const found = follow(document, branch, path);
    if (found.depth > best.depth) best = found;
  }
  return best;
}

function childOf(node: unknown, key: PropertyKey): Pair | Node | undefined {
  if (isMap(node))
    return node.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === String(key));
  if (isSeq(node)) {
    const item = node.items[Number(key)];
    return isNode(item) ? item : undefined;
  }
  return undefined;
}

/** The values under the template constructs of a map, and the items of a list that `$merge` joins. */
function branchesOf(node: unknown): unknown[] {
  if (isSeq(node)) return node.items;
  if (!isMap(node)) return [];
  const isTemplate = node.items.some(
    (pair) => isScalar(pair.key) && String(pair.key.value).startsWith("$"),
  );
  return isTemplate ? node.items.map((pair) => pair.value) : [];
}

function offsetOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
