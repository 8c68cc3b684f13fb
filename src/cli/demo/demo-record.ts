import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { jsonOr } from "../api/api-failure.ts";

const Record = z.object({ done: z.array(z.string()) });

/** Returns the names of the steps that the demo has completed on a farm; a missing or broken file means none. */
export async function readDemoRecord(file: string): Promise<ReadonlySet<string>> {
  const text = await readFile(file, "utf8").catch(() => "");
  return new Set(Record.safeParse(jsonOr(text, undefined)).data?.done);
}

/** Writes the file atomically, so that an interruption leaves no partial file. */
export async function writeDemoRecord(file: string, done: ReadonlySet<string>): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.new`, `${JSON.stringify({ done: [...done] }, undefined, 2)}\n`);
  await rename(`${file}.new`, file);
}
