import { perPage } from "./github-asker.ts";

/**
 * Reads a list without gaps caused by deletions.
 *
 * GitHub's pages are numbered from the front: when an earlier item is deleted during reading, the first item of the
 * next page moves to a page that was already read, and would seem deleted. Lists of several pages are therefore read
 * twice and merged, with priority for the later data; unchanged pages do not count against the limits.
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
