/**
 * Returns a number with commas between thousands, as `toLocaleString("en")` does.
 *
 * The browser's function loads the data of languages at its first call: 15 to 20 ms before a page is drawn.
 */
export function numberText(value: number): string {
  if (!Number.isSafeInteger(value)) return value.toLocaleString("en");
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}
