import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { type ImageEntry, imageUser } from "./image-entry.ts";

const run = promisify(execFile);

/** Where the package is in the image. */
export const packagePlace = "opt/grange";
/** The data of a server or a worker: the only directory that the user of the image can write, besides /tmp. */
export const dataPlace = "var/lib/grange";

const Packed = z
  .array(z.object({ version: z.string(), files: z.array(z.object({ path: z.string() })) }))
  .length(1);

/** Returns the files of the npm package of a checkout whose `dist/` is built, and the package's version. */
export async function grangeFiles(
  checkout: string,
): Promise<{ readonly entries: readonly ImageEntry[]; readonly version: string }> {
  const words = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const { stdout } = await run("npm", words, { cwd: checkout, maxBuffer: 64 * 1024 * 1024 });
  const [packed] = Packed.parse(JSON.parse(stdout));
  if (packed === undefined) throw new Error("npm pack lists no package");
  const files = packed.files.map(
    ({ path }): ImageEntry => ({
      kind: "file",
      path: `${packagePlace}/${path}`,
      content: { from: join(checkout, path) },
      executable: path.startsWith("bin/"),
    }),
  );
  return {
    version: packed.version,
    entries: [
      ...files,
      { kind: "link", path: "usr/local/bin/grange", target: `/${packagePlace}/bin/grange.mjs` },
      { kind: "directory", path: dataPlace, mode: 0o700, owner: imageUser },
    ],
  };
}
