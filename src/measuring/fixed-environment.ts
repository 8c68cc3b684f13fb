import type { RunFolders } from "./folders/run-folders.ts";

/** Returns the whole environment of every measured program, unless the suite adds variables. */
export function fixedEnvironment(
  { home, temp }: RunFolders,
  searchPath: string,
): Record<string, string> {
  return {
    HOME: home,
    TMPDIR: temp,
    PATH: searchPath,
    LANG: "C.UTF-8",
    LC_ALL: "C.UTF-8",
    TZ: "UTC",
  };
}
