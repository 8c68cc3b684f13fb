import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Fault, messageOf } from "#core/fault.ts";

/** Reads definitions from outside the commit: file name → text. */
export async function readDefinitionsFolder(folder: string): Promise<Record<string, string>> {
  let names: string[];
  try {
    names = (await readdir(folder)).filter((name) => /\.ya?ml$/.test(name)).toSorted();
  } catch (cause) {
    throw new Fault("invalid_argument", `cannot read the definitions: ${messageOf(cause)}`, {
      cause,
    });
  }
  if (names.length === 0) {
    throw new Fault(
      "invalid_argument",
      `there is no *.yml in ${folder}, so there are no definitions`,
    );
  }
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  return Object.fromEntries(names.map((name, index) => [name, texts[index] ?? ""]));
}
