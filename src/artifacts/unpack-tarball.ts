import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault } from "#core/fault.ts";
import { readTarball, type TarLimits } from "./read-tarball.ts";

/** A compiler with its libraries has 30 MB; one with its own runtime may have ten times that. */
const toolchainLimits: TarLimits = { bytes: 1024 * 2 ** 20, files: 100_000 };

/**
 * Writes the files of a gzipped tarball into a folder, without their first folder, as npm does. Links and paths outside
 * the folder are refused.
 */
export async function unpackTarball(bytes: Uint8Array, folder: string): Promise<void> {
  const files = await readTarball(bytes, toolchainLimits).catch((cause: unknown) => {
    // A retry with the same tarball would also be refused.
    throw Fault.from(cause, "the tarball cannot be unpacked");
  });
  const folders = new Set(files.map(({ path }) => dirname(join(folder, path))));
  for (const each of folders) await mkdir(each, { recursive: true });
  for (const { path, isExecutable, bytes: content } of files)
    await writeFile(join(folder, path), content, {
      mode: isExecutable ? 0o755 : 0o644,
      flag: "wx",
    });
}
