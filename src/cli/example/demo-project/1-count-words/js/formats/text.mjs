/** One line for each word: the word, how often, and on which lines. */
export function asText(title, entries) {
  const width = Math.max(0, ...entries.map(({ word }) => word.length));
  const lines = entries.map(
    ({ word, count, lines: on }) =>
      `${word.padEnd(width)}  ${String(count).padStart(4)}  ${on.join(" ")}`,
  );
  return [title, "", ...lines, ""].join("\n");
}
