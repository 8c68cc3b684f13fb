import { shorten } from "./shorten.ts";

/** The width of a text as it is drawn, in px. */
export type Measure = (text: string) => number;

/** The text, or as much of its ends as has room in `width` px. */
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
