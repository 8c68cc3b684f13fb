import type { ChangedPart } from "#api/catalog.ts";

/** More parts than this are not readable, so the whole definition is shown instead. */
const mostParts = 50;

/** Returns where two values differ, as deep as they have maps and lists at the same places. */
export function changedParts(before: unknown, after: unknown): ChangedPart[] {
  const parts: ChangedPart[] = [];
  collect(before, after, [], parts);
  return parts.length <= mostParts ? parts : [{ path: "", before, after }];
}

function collect(
  before: unknown,
  after: unknown,
  path: readonly string[],
  parts: ChangedPart[],
): void {
  if (Object.is(before, after)) return;
  if (!isTree(before) || !isTree(after) || Array.isArray(before) !== Array.isArray(after)) {
    parts.push({
      path: path.join("."),
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
    });
    return;
  }
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
    collect(before[key], after[key], [...path, key], parts);
}

function isTree(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
