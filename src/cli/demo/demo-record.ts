import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { jsonOr } from "../api/api-failure.ts";

const Record = z.object({ done: z.array(z.string()) });

/** The names of the steps that the demo has done on a farm; a file that is missing or broken means none. */
export async function readDemoRecord(file: string): Promise<ReadonlySet<string>> {
  const text = await readFile(file, "utf8").catch(() => "");
  return new Set(Record.safeParse(jsonOr(text, undefined)).data?.done);
}

/** Writes the file as a whole, so that no interruption leaves half of it. */
export async function writeDemoRecord(file: string, done: ReadonlySet<string>): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.new`, `${JSON.stringify({ done: [...done] }, undefined, 2)}\n`);
  await rename(`${file}.new`, file);
}
