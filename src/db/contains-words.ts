import { type Sql, sql } from "./sql.ts";

/** Returns the words of a search text, in lower case. */
export function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
}

/** Returns the condition that a text contains each of the words, which are in lower case, anywhere. */
export function containsWords(text: Sql, words: readonly string[]): Sql {
  // strpos, not `like`: the words may contain `%` and `_`.
  return sql`not exists (
    select from unnest(${words}::text[]) as wanted (word) where strpos(lower(${text}), word) = 0)`;
}
