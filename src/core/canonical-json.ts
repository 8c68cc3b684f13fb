/**
 * Returns the same text for equal values: keys sorted, no spaces, without keys that are undefined.
 *
 * Written by hand: a catalog has tens of thousands of definitions, and sorting for `JSON.stringify` copies each of
 * their maps.
 */
export function canonicalJson(value: unknown): string {
  return textOf(value) ?? "null";
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return quoted(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) {
    let text = "[";
    for (let i = 0; i < value.length; i++) {
      if (i > 0) text += ",";
      text += textOf(value[i]) ?? "null";
    }
    return `${text}]`;
  }
  if ("toJSON" in value) return JSON.stringify(value);
  let text = "{";
  const map = value as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(map).toSorted()) {
    const part = textOf(map[key]);
    if (part === undefined) continue;
    if (text.length > 1) text += ",";
    text += `${quoted(key)}:${part}`;
  }
  return `${text}}`;
}

/** Texts that JSON does not escape. Most texts need no escaping, and a call for each would be the largest cost. */
const unescaped = /^[ !#-[\]-\u{d7ff}\u{e000}-\u{ffff}]*$/u;

function quoted(text: string): string {
  return unescaped.test(text) ? `"${text}"` : JSON.stringify(text);
}
