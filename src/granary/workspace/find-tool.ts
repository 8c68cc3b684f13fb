import { access, constants, realpath, stat } from "node:fs/promises";
import { basename, delimiter, isAbsolute, join } from "node:path";

/** Programs with the name of a compiler that do not identify the compiler. */
const compilerWrappers: ReadonlySet<string> = new Set(["ccache", "sccache", "distcc", "icecc"]);

/**
 * Returns the file that a build runs under this name or path, with all links resolved; undefined when there is none.
 */
export async function findTool(
  name: string,
  path: string | undefined,
): Promise<string | undefined> {
  if (isAbsolute(name)) {
    const real = await realpath(name).catch(() => undefined);
    const isTool =
      real !== undefined && !compilerWrappers.has(basename(real)) && (await isProgram(real));
    return isTool ? real : undefined;
  }
  if (name.includes("/")) return undefined;
  for (const directory of (path ?? "").split(delimiter).filter(isAbsolute)) {
    const real = await realpath(join(directory, name)).catch(() => undefined);
    if (real === undefined || compilerWrappers.has(basename(real))) continue;
    if (await isProgram(real)) return real;
  }
  return undefined;
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
