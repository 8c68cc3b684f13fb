/** Returns foreign lines in a code block that they cannot end, because its fence is longer than any of theirs. */
export function fence(text: string): string {
  const plain = text
    .split(/\r\n|\r|\n/)
    .map((line) => line.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]+/gu, " "))
    .join("\n");
  let longest = 2;
  for (const [run] of plain.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const signs = "`".repeat(longest + 1);
  return `${signs}text\n${plain}\n${signs}`;
}
