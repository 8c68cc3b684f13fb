import type { WordPattern } from "./selection.ts";

/**
 * Whether a text fits a pattern with stars.
 *
 * What stands between two stars is looked for once, as far left as it can be: any match
 * further right would leave less for the rest. So nothing is ever tried twice.
 */
export function matchesPattern(pattern: WordPattern, text: string): boolean {
  const [first, ...others] = pattern;
  const last = others.pop();
  if (last === undefined) return text === first;
  if (text.length < first.length + last.length) return false;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  const end = text.length - last.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return at <= end;
}
