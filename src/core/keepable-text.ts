/** PostgreSQL's text accepts neither NUL nor an unpaired surrogate. */
const unkeepable = /[\0\p{Surrogate}]/gu;

/** Returns whether the database can store a text unchanged. */
export function isKeepable(text: string): boolean {
  return text.search(unkeepable) === -1;
}

/** Returns the beginning of a text, at most `most` UTF-16 units, in a form that the database can store. */
export function keepableText(text: string, most: number): string {
  return text.slice(0, most).replace(unkeepable, "\uFFFD");
}
