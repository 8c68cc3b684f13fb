import type { RecentBuild } from "./failed-builds.store.ts";

/**
 * Returns the failed builds that no newer build of the same principal and targets has followed, the newest first.
 *
 * @param builds the newest first
 */
export function newestFailedBuilds(builds: readonly RecentBuild[], most: number): RecentBuild[] {
  const seen = new Set<string>();
  return builds
    .filter(({ project, principal, tool, command, patterns }) => {
      const key = JSON.stringify([project, principal, tool, command, patterns]);
      const isNewest = !seen.has(key);
      seen.add(key);
      return isNewest;
    })
    .filter(({ failed }) => failed)
    .slice(0, most);
}
