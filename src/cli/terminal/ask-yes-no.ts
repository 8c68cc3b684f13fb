import { createInterface } from "node:readline/promises";

/** Asks a person. Only a word that begins with y is a yes; an end of input is a no. */
export async function askYesNo(
  question: string,
  input: NodeJS.ReadableStream = process.stdin,
  output: NodeJS.WritableStream = process.stderr,
): Promise<boolean> {
  const lines = createInterface({ input, output });
  const closed = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
  try {
    return /^\s*y/i.test(await Promise.race([lines.question(`${question} [y/N] `), closed]));
  } finally {
    lines.close();
  }
}
