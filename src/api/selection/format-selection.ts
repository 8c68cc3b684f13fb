import type { Selection, WordPattern } from "./selection.ts";
import { isOperatorWord } from "./selection-tokens.ts";

/** Returns a selection as text; parsing the text gives an equal selection. */
export function formatSelection(selection: Selection): string {
  return formatted(selection, 0);
}

/** `around`: how strongly the surrounding operator binds; 0 none, 1 `|`, 2 `&`, 3 `!`. */
function formatted(selection: Selection, around: 0 | 1 | 2 | 3): string {
  switch (selection.op) {
    case "or": {
      const text = selection.parts.map((part) => formatted(part, 1)).join(" | ");
      return around > 0 ? `(${text})` : text;
    }
    case "and": {
      const text = selection.parts.map((part) => formatted(part, 2)).join(" & ");
      return around > 1 ? `(${text})` : text;
    }
    case "not":
      return `!${formatted(selection.part, 3)}`;
    case "word":
      return formatPattern(selection.pattern);
    case "key":
      return `${formatText(selection.key)}:${formatPattern(selection.pattern)}`;
  }
}

function formatPattern(pattern: WordPattern): string {
  if (pattern.length === 1) return formatText(pattern[0]);
  return pattern.map((part) => (part === "" ? "" : formatText(part))).join("*");
}

function formatText(text: string): string {
  if (text !== "" && !isOperatorWord(text) && !/[\s&|!()"':*\\]/.test(text)) return text;
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
