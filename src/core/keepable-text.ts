/** PostgreSQL's text knows neither NUL nor half a surrogate pair. */
const unkeepable = /[\0\p{Surrogate}]/gu;

/** Whether the database can keep a text as it is. */
export function isKeepable(text: string): boolean {
  return text.search(unkeepable) === -1;
}

/** The beginning of a text, `most` UTF-16 units at most, as the database can keep it. */
export function keepableText(text: string, most: number): string {
  return text.slice(0, most).replace(unkeepable, "\uFFFD");
}
