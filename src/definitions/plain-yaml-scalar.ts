/** Leaves a text to the full parser: it is either not YAML, or uses more of YAML than this reader supports. */
export class NotPlain extends Error {}

/** A value and the offset after it. */
export interface ReadPart<Value> {
  readonly value: Value;
  readonly end: number;
}

const plainKey = /[A-Za-z0-9_$./][A-Za-z0-9_$./{}()@+*-]*(?=:[ \n])/y;

/** Reads the key at `at` and the colon after it. */
export function readKey(
  text: string,
  at: number,
  lineEnd: number,
): { readonly key: string; readonly end: number } {
  const sign = text.charAt(at);
  if (sign === '"' || sign === "'") {
    const { value, end } = readQuoted(text, at, lineEnd);
    const next = text.charCodeAt(end + 1);
    if (text.charAt(end) !== ":" || (next !== 0x20 && next !== 0x0a)) throw new NotPlain();
    return { key: usual(value), end: end + 1 };
  }
  plainKey.lastIndex = at;
  const found = plainKey.exec(text)?.[0];
  if (found === undefined || typeof plainValue(found) !== "string") throw new NotPlain();
  return { key: usual(found), end: at + found.length + 1 };
}

/** Rejects keys with a special meaning in YAML or JavaScript. */
function usual(key: string): string {
  if (key === "__proto__" || key === "<<" || key.length > 1_000) throw new NotPlain();
  return key;
}

/** Reads a text, number, boolean or null that fills the rest of a line, except for a comment. */
export function readScalarLine(text: string, at: number, lineEnd: number): unknown {
  const sign = text.charAt(at);
  if (sign === '"' || sign === "'") {
    const { value, end } = readQuoted(text, at, lineEnd);
    const rest = text.slice(end, lineEnd);
    if (!/^ *$|^ +#/.test(rest)) throw new NotPlain();
    return value;
  }
  const line = text.slice(at, lineEnd);
  const comment = line.indexOf(" #");
  const written = (comment === -1 ? line : line.slice(0, comment)).trimEnd();
  if (!beginsPlainly.test(written) || written.includes(": ") || written.endsWith(":"))
    throw new NotPlain();
  return plainValue(written);
}

/** Texts may begin with a dash that is not a list marker. */
const beginsPlainly = /^(?:[^\s\-?:,[\]{}#&*!|>'"%@`]|-[^\s])/;

/** Reads a quoted text that ends in the same line. */
export function readQuoted(text: string, at: number, lineEnd: number): ReadPart<string> {
  const quote = text.charAt(at);
  if (quote === "'") {
    let end = text.indexOf("'", at + 1);
    while (end !== -1 && text.charAt(end + 1) === "'") end = text.indexOf("'", end + 2);
    if (end === -1 || end > lineEnd) throw new NotPlain();
    return { value: text.slice(at + 1, end).replaceAll("''", "'"), end: end + 1 };
  }
  let end = at + 1;
  let hasEscapes = false;
  for (; end < lineEnd && text.charCodeAt(end) !== 0x22; end++) {
    if (text.charCodeAt(end) !== 0x5c) continue;
    end += 1;
    hasEscapes = true;
    // The escapes that have the same meaning in JSON.
    if (!'"\\/nt'.includes(text.charAt(end))) throw new NotPlain();
  }
  if (end >= lineEnd) throw new NotPlain();
  const written = text.slice(at, end + 1);
  const value = hasEscapes ? (JSON.parse(written) as string) : written.slice(1, -1);
  return { value, end: end + 1 };
}

/** Returns the value of a text without quotes, by the core schema of YAML 1.2. */
export function plainValue(written: string): unknown {
  if (/^[A-Za-z]{6}/.test(written)) return written;
  if (written.length > 1_000) {
    // It may be a number with many digits.
    if (/^[-+.\d]/.test(written)) throw new NotPlain();
    return written;
  }
  if (/^(?:~|null|Null|NULL)$/.test(written)) return null;
  if (/^(?:true|True|TRUE)$/.test(written)) return true;
  if (/^(?:false|False|FALSE)$/.test(written)) return false;
  if (!/^[-+.\d]/.test(written)) return written;
  if (/^-?(?:0|[1-9]\d{0,14})$/.test(written)) return Number(written);
  // Other notations of numbers are rare, and each has its own rule.
  if (/^[-+]?(?:\d+|\.\d+|\d+\.\d*)(?:[eE][-+]?\d+)?$|^0[ox]|^[-+]?\.(?:inf|nan)$/i.test(written))
    throw new NotPlain();
  return written;
}
