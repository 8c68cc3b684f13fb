import { anySequence } from "./escape-sequences.ts";

/** Longer lines are cut: such a line is data, not a message. */
const longestLine = 1_000;

/**
 * Returns a line of a log as plain text, as a terminal shows it in the end: after a carriage return, text replaces
 * text. Without colours and control characters.
 */
export function shownLogLine(text: string): string {
  const last = text.replace(/\r+$/, "").split("\r").at(-1) ?? "";
  const plain = last.replace(anySequence, "").replace(/\p{Cc}/gu, (c) => (c === "\t" ? c : ""));
  return plain.length <= longestLine ? plain : `${plain.slice(0, longestLine)}…`;
}
