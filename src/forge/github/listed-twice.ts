import { perPage } from "./github-asker.ts";

/**
 * A list that no deletion makes a hole in.
 *
 * GitHub's pages are counted from the front: when something before goes while they are read, the first
 * of the next page moves onto one that was read already, and would be taken for gone. Lists of several
 * pages are therefore read twice, and what either showed counts, the later word first; unchanged pages
 * cost nothing of the limits.
 */
export async function listedTwice<Item>(
  list: () => Promise<Item[]>,
  keyOf: (item: Item) => string | number,
): Promise<Item[]> {
  const once = await list();
  if (once.length < perPage) return once;
  const twice = await list();
  return [...new Map([...once, ...twice].map((one) => [keyOf(one), one])).values()];
}
