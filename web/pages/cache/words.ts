import type { CacheUseKind } from "#api/cache-use.ts";

export const kindWords: Readonly<Record<CacheUseKind, string>> = {
  actions: "Actions of build tools",
  jobs: "Jobs",
  granaries: "Granaries",
  bazel: "Bazel over HTTP",
  ccache: "ccache",
  sccache: "sccache",
  gradle: "Gradle",
  maven: "Maven",
  turborepo: "Turborepo",
  nx: "Nx",
  gocache: "Go",
  "remote-asset": "Remote assets",
  dune: "dune",
  results: "Build systems with the granary's protocol",
};

/** Names a period: an hour as `2026-11-27 13:00`, a day as `2026-11-27`; both in UTC. */
export function periodName(at: string, periodMs: number): string {
  return periodMs < 86_400_000 ? at.slice(0, 16).replace("T", " ") : at.slice(0, 10);
}
