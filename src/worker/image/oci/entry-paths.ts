import { Fault } from "#core/fault.ts";

const longestPath = 4_095;
const longestName = 255;
const deepestPath = 200;

/**
 * Returns the components of a path in a layer. A leading `/` or `./` means the root of the image, as for Docker.
 *
 * Throws `invalid_argument` for `..`, for NUL, and for names that Linux cannot store.
 */
export function componentsOf(path: string): string[] {
  if (Buffer.byteLength(path) > longestPath) throw hostile(path, "it is too long");
  if (path.includes("\0")) throw hostile(path, "it has a NUL");
  // The library that reads tar files decodes UTF-8, and a name that is none could no longer be written as it was.
  if (path.includes("\u{fffd}")) throw hostile(path, "it is not UTF-8");
  const components = path.split("/").filter((name) => name !== "" && name !== ".");
  if (components.includes("..")) throw hostile(path, "it leaves the image by `..`");
  if (components.length > deepestPath)
    throw hostile(path, `it is deeper than ${deepestPath} directories`);
  if (components.some((name) => Buffer.byteLength(name) > longestName))
    throw hostile(path, `a name in it has more than ${longestName} bytes`);
  return components;
}

/** Checks the target of a symbolic link, which may be any text: it is resolved inside the image only. */
export function checkedTarget(path: string, target: string): string {
  if (target === "" || target.includes("\0") || Buffer.byteLength(target) > longestPath)
    throw hostile(path, "its target is empty, too long, or has a NUL");
  return target;
}

function hostile(path: string, why: string): Fault {
  const shown = JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);
  return new Fault("invalid_argument", `a layer of the image has the path ${shown}: ${why}`);
}
