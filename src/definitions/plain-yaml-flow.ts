import { NotPlain, plainValue, type ReadPart, readQuoted } from "./plain-yaml-scalar.ts";

const maxDepth = 24;

/** Reads a list or map in brackets that ends in the same line. */
export function readFlow(
  text: string,
  at: number,
  lineEnd: number,
  depth: number,
): ReadPart<unknown> {
  if (depth > maxDepth) throw new NotPlain();
  return text.charAt(at) === "["
    ? readList(text, at, lineEnd, depth)
    : readMap(text, at, lineEnd, depth);
}

function readList(text: string, start: number, lineEnd: number, depth: number): ReadPart<unknown> {
  const list: unknown[] = [];
  let at = pastSpaces(text, start + 1);
  if (text.charAt(at) === "]") return { value: list, end: at + 1 };
  for (;;) {
    const item = readItem(text, at, lineEnd, depth);
    list.push(item.value);
    at = pastSpaces(text, item.end);
    if (text.charAt(at) === "]") return { value: list, end: at + 1 };
    at = pastComma(text, at);
  }
}

const flowKey = /[A-Za-z0-9_$./][A-Za-z0-9_$./()@+*-]*(?=: )/y;

function readMap(text: string, start: number, lineEnd: number, depth: number): ReadPart<unknown> {
  const map: Record<string, unknown> = {};
  let at = pastSpaces(text, start + 1);
  if (text.charAt(at) === "}") return { value: map, end: at + 1 };
  for (;;) {
    const key = readKeyAt(text, at, lineEnd);
    if (key.value === "__proto__" || key.value === "<<" || Object.hasOwn(map, key.value))
      throw new NotPlain();
    const item = readItem(text, pastSpaces(text, key.end), lineEnd, depth);
    map[key.value] = item.value;
    at = pastSpaces(text, item.end);
    if (text.charAt(at) === "}") return { value: map, end: at + 1 };
    at = pastComma(text, at);
  }
}

function readKeyAt(text: string, at: number, lineEnd: number): ReadPart<string> {
  const sign = text.charAt(at);
  if (sign === '"' || sign === "'") {
    const { value, end } = readQuoted(text, at, lineEnd);
    if (!text.startsWith(": ", end) || value.length > 1_000) throw new NotPlain();
    return { value, end: end + 2 };
  }
  flowKey.lastIndex = at;
  const found = flowKey.exec(text)?.[0];
  if (found === undefined || found.length > 1_000 || typeof plainValue(found) !== "string")
    throw new NotPlain();
  return { value: found, end: at + found.length + 2 };
}

/** In brackets, a text without quotes ends before a comma or a bracket. */
const flowScalar = /(?:[^\s\-?:,[\]{}#&*!|>'"%@`]|-(?![\s,[\]{}]))[^\n,[\]{}]*/y;

function readItem(text: string, at: number, lineEnd: number, depth: number): ReadPart<unknown> {
  const sign = text.charAt(at);
  if (sign === "[" || sign === "{") return readFlow(text, at, lineEnd, depth + 1);
  if (sign === '"' || sign === "'") return readQuoted(text, at, lineEnd);
  flowScalar.lastIndex = at;
  const found = flowScalar.exec(text)?.[0];
  if (found === undefined) throw new NotPlain();
  const written = found.trimEnd();
  if (/: |:$| #/.test(written)) throw new NotPlain();
  return { value: plainValue(written), end: at + found.length };
}

function pastSpaces(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === 0x20) at += 1;
  return at;
}

/** Returns the offset of the text after a comma; a bracket directly after the comma is left to the full parser. */
function pastComma(text: string, at: number): number {
  if (text.charAt(at) !== ",") throw new NotPlain();
  return pastSpaces(text, at + 1);
}
