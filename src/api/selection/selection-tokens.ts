import type { WordPattern } from "./selection.ts";
import { SelectionProblem } from "./selection-problem.ts";

/** Columns count from 1. */
export type SelectionToken =
  | { readonly kind: "&" | "|" | "!" | "(" | ")"; readonly column: number }
  | { readonly kind: "word"; readonly column: number; readonly pattern: WordPattern }
  | {
      readonly kind: "key";
      readonly column: number;
      readonly key: string;
      readonly pattern: WordPattern;
    };

/** The characters that end a word without quotes. */
const operators = "&|!()";

/** Operators as words. In quotes, they are ordinary words. */
const operatorWords: ReadonlyMap<string, "&" | "|" | "!"> = new Map([
  ["and", "&"],
  ["or", "|"],
  ["not", "!"],
]);

/** Returns whether a text without quotes would be read as an operator. */
export function isOperatorWord(text: string): boolean {
  return operatorWords.has(text.toLowerCase());
}

/** Reads the words and operators of a selection, in one pass. */
export function* selectionTokens(text: string): Generator<SelectionToken, void, undefined> {
  let at = 0;
  while (at < text.length) {
    const column = at + 1;
    const sign = text.charAt(at);
    if (/\s/.test(sign)) {
      at += 1;
    } else if (isOperator(sign)) {
      yield { kind: sign, column };
      // Programmers tend to write && and ||.
      at += (sign === "&" || sign === "|") && text.charAt(at + 1) === sign ? 2 : 1;
    } else {
      const { end, ...word } = readWord(text, at);
      const operator = operatorWords.get(text.slice(at, end).toLowerCase());
      yield operator === undefined ? { ...word, column } : { kind: operator, column };
      at = end;
    }
  }
}

function isOperator(sign: string): sign is "&" | "|" | "!" | "(" | ")" {
  return operators.includes(sign);
}

type Word =
  | { readonly kind: "word"; readonly pattern: WordPattern; readonly end: number }
  | {
      readonly kind: "key";
      readonly key: string;
      readonly pattern: WordPattern;
      readonly end: number;
    };

/** Reads from `start` to the next blank or operator outside of quotes. */
function readWord(text: string, start: number): Word {
  let key: string | undefined;
  let pattern: [string, ...string[]] = [""];
  let at = start;
  let valueStart = start;
  for (; at < text.length; at++) {
    const sign = text.charAt(at);
    if (/\s/.test(sign) || isOperator(sign)) break;
    if (sign === '"' || sign === "'") {
      const quoted = readQuoted(text, at);
      pattern[pattern.length - 1] += quoted.content;
      at = quoted.end - 1;
    } else if (sign === "*") {
      // Consecutive stars mean the same as one, also with empty quotes between them.
      if (pattern.length === 1 || pattern.at(-1) !== "") pattern.push("");
    } else if (sign === ":" && key === undefined) {
      key = keyOf(pattern, start + 1);
      pattern = [""];
      valueStart = at + 1;
    } else {
      pattern[pattern.length - 1] += sign;
    }
  }
  if (key === undefined) return { kind: "word", pattern, end: at };
  if (at === valueStart) {
    const column = valueStart + 1;
    throw new SelectionProblem(column, `"${key}:" has no value`, `write ${key}:VALUE, or ${key}:*`);
  }
  return { kind: "key", key, pattern, end: at };
}

function keyOf(pattern: WordPattern, column: number): string {
  const [key, ...others] = pattern;
  if (others.length > 0)
    throw new SelectionProblem(
      column,
      "a key cannot have a star",
      "name the key, such as kind:*, or quote the word",
    );
  if (key === "")
    throw new SelectionProblem(
      column,
      "there is no key before the colon",
      "write KEY:VALUE, or quote the colon",
    );
  return key;
}

/** Within quotes all text is literal; a backslash escapes a quote or a backslash. */
function readQuoted(text: string, start: number): { content: string; end: number } {
  const quote = text.charAt(start);
  let content = "";
  for (let at = start + 1; at < text.length; at++) {
    const sign = text.charAt(at);
    if (sign === quote) return { content, end: at + 1 };
    if (sign === "\\" && at + 1 < text.length) content += text.charAt(++at);
    else content += sign;
  }
  throw new SelectionProblem(start + 1, "this quote is never closed", `add a ${quote} at its end`);
}
