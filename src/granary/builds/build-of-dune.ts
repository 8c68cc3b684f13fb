import type { DuneBuild } from "../dune/dune-builds.ts";
import type { GranaryStore } from "../store/granary-store.ts";
import type { RunningBuild } from "./open-builds.ts";

/** dune looks into its own store, and never asks: what arrives for a build is put there as it comes. */
export function buildOfDune(build: RunningBuild, store: Pick<GranaryStore, "find">): DuneBuild {
  return {
    build,
    async *arrivals(signal) {
      for await (const key of build.prefetch.arrivals(signal)) {
        if (key.namespace !== "dune") continue;
        const result = await store.find(build.project, key);
        if (result !== undefined) yield result;
      }
    },
  };
}
