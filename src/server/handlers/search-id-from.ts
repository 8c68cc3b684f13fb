import { Fault } from "#core/fault.ts";
import { SearchId } from "#searches/search.store.ts";

/** Returns the search that an address names. Throws `invalid_argument`. */
export function searchIdFrom(text: string): SearchId {
  const id = SearchId.safeParse(text);
  if (!id.success) throw new Fault("invalid_argument", `"${text}" is not the id of a search`);
  return id.data;
}
