import { open, readdir } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { Fault, messageOf } from "#core/fault.ts";
import { definitionLimits } from "#definitions/definition-limits.ts";
import { isDefinitionFile } from "./read-definition-files.ts";

/**
 * Returns the files of definitions in a directory on the server's machine: path → text.
 *
 * Throws `invalid_argument` for a relative path, because it depends on the directory in which the
 * server was started, and `failed_precondition` for an unreadable one.
 */
export async function readDefinitionsDirectory(directory: string): Promise<Map<string, string>> {
  if (!isAbsolute(directory))
    throw new Fault("invalid_argument", `${directory}: give the whole path, from the root`);
  const files = new Map<string, string>();
  try {
    for (const name of (await readdir(directory)).filter(isDefinitionFile).toSorted()) {
      if (files.size >= definitionLimits.files) break;
      const path = join(directory, name);
      files.set(path, await readAtMost(path, definitionLimits.fileBytes + 1));
    }
  } catch (cause) {
    const message = `cannot read the definitions in ${directory} on the server's machine: ${messageOf(cause)}`;
    throw new Fault("failed_precondition", message, { cause });
  }
  if (files.size === 0)
    throw new Fault(
      "failed_precondition",
      `there is no *.yml in ${directory} on the server's machine`,
    );
  return files;
}

/** A longer file is truncated just above the limit, so that it is recognised as too long. */
async function readAtMost(path: string, most: number): Promise<string> {
  const file = await open(path);
  try {
    if (!(await file.stat()).isFile()) throw new Error(`${path} is not a file`);
    const buffer = Buffer.alloc(most);
    const { bytesRead } = await file.read(buffer, 0, most, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}
