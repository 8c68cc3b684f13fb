import type { CatalogDiff } from "#api/catalog.ts";
import { changedParts } from "./changed-parts.ts";
import type { TemplateEntry } from "./template-catalog.ts";

type Changes = CatalogDiff["jobs"];
type Entries = ReadonlyMap<string, Pick<TemplateEntry, "body">>;

/** Above this number of comparisons, items are shown as removed and added. */
const mostComparisons = 2_500;

/**
 * Returns the differences of expressions that become jobs. They have no names, so each is compared with the most
 * similar one of the other side.
 *
 * Two expressions without a common top-level key count as one that was removed and one that was added.
 */
export function changedExpressions(before: Entries, after: Entries): Changes {
  const removed = new Map([...before].filter(([name]) => !after.has(name)));
  const added = new Map([...after].filter(([name]) => !before.has(name)));
  const changed = removed.size * added.size <= mostComparisons ? likest(removed, added) : [];
  for (const { was, is } of changed) {
    removed.delete(was);
    added.delete(is);
  }
  return {
    added: [...added.keys()].map(named),
    removed: [...removed.keys()].map(named),
    changed: changed.map(({ is, parts }) => ({ name: named(is), parts })),
  };
}

interface Likeness {
  readonly was: string;
  readonly is: string;
  readonly parts: Changes["changed"][number]["parts"];
}

/** Returns pairs with each expression in at most one pair, beginning with the most similar ones. */
function likest(removed: Entries, added: Entries): Likeness[] {
  const isOne = removed.size === 1 && added.size === 1;
  const pairs = [...removed].flatMap(([was, { body: before }]) =>
    [...added].flatMap(([is, { body: after }]) => {
      const parts = changedParts(before, after);
      const isOther = parts.some(({ path }) => path === "");
      return isOther && !isOne ? [] : [{ was, is, parts }];
    }),
  );
  const taken = new Set<string>();
  return pairs
    .toSorted((a, b) => a.parts.length - b.parts.length)
    .filter(({ was, is }) => {
      if (taken.has(was) || taken.has(is)) return false;
      taken.add(was).add(is);
      return true;
    });
}

function named(digest: string): string {
  return `expression ${digest}`;
}
