import { anySequence, colourSequence } from "#core/escape-sequences.ts";

const controls = /\p{Cc}/gu;

/**
 * Returns foreign text as one harmless line.
 *
 * A commit's subject can contain escape sequences that move the cursor, set the window's title or paste into the
 * clipboard.
 */
export function printableLine(text: string): string {
  return text.replace(/\s+/g, " ").replace(anySequence, "").replace(controls, "");
}

/** Returns a log for a terminal: its colours and line breaks stay, all other control sequences are removed. */
export function printableLog(text: string): string {
  const kept: string[] = [];
  let end = 0;
  for (const match of text.matchAll(colourSequence)) {
    kept.push(withoutControls(text.slice(end, match.index)), match[0]);
    end = match.index + match[0].length;
  }
  kept.push(withoutControls(text.slice(end)));
  return kept.join("");
}

function withoutControls(text: string): string {
  return text
    .replace(anySequence, "")
    .replace(controls, (character) => (/[\n\r\t]/.test(character) ? character : ""));
}
