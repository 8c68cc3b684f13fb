/** Returns the width of a drawn text, in px. */
export type Measure = (text: string) => number;

/** Returns the text, or its beginning and end as far as they fit into `width` px. */
export function fitText(text: string, width: number, measure: Measure): string {
  if (measure(text) <= width) return text;
  let fits = 1;
  let tooLong = Array.from(text).length;
  while (tooLong - fits > 1) {
    const length = Math.floor((fits + tooLong) / 2);
    if (measure(shorten(text, length)) <= width) fits = length;
    else tooLong = length;
  }
  return shorten(text, fits);
}

/** Shortens a name by removing its middle, because names differ at their ends. */
function shorten(name: string, length: number): string {
  const chars = Array.from(name);
  if (chars.length <= length) return name;
  const head = Math.ceil((length - 1) / 2);
  return `${chars.slice(0, head).join("")}…${chars.slice(chars.length - (length - 1 - head)).join("")}`;
}
