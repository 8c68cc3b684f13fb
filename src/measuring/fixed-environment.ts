import type { RunFolders } from "./folders/run-folders.ts";

/** What every measured program has in its environment, and all that it has unless the suite gives more. */
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
