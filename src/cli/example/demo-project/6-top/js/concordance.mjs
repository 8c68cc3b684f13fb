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

/** Returns the most frequent words, the most frequent first; of equally frequent ones, in the order of their letters. */
export function mostFrequent(entries, most) {
  return entries.toSorted((a, b) => b.count - a.count || (a.word < b.word ? -1 : 1)).slice(0, most);
}
