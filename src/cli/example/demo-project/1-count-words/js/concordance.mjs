import { splitWords } from "./split-words.mjs";
import { WordTable } from "./word-table.mjs";

/** Counts the words of a text; each entry of the table has the numbers of its lines, from 1 on. */
export function countWords(text) {
  const table = new WordTable();
  text.split("\n").forEach((line, index) => {
    for (const word of splitWords(line)) {
      const entry = table.entry(word);
      entry.count += 1;
      if (entry.lines.at(-1) !== index + 1) entry.lines.push(index + 1);
    }
  });
  return table;
}
