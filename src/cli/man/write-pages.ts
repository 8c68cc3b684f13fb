import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Writes man pages by the names of their commands: `grange.1`, `grange-status.1`, … */
export async function writePages(dir: string, pages: ReadonlyMap<string, string>): Promise<void> {
  await mkdir(dir, { recursive: true });
  for (const [name, page] of pages) {
    await writeFile(join(dir, name === "grange" ? "grange.1" : `grange-${name}.1`), page);
  }
}
