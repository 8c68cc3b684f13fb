import type { RunningBuild } from "../builds/start-build.ts";
import type { GranaryStore } from "../store/granary-store.ts";
import type { DuneBuild } from "./dune-builds.ts";

/** dune reads only its own store and sends no requests, so results are written there as they arrive. */
export function buildOfDune(build: RunningBuild, store: Pick<GranaryStore, "find">): DuneBuild {
  return {
    build,
    known: build.prefetch.known,
    outlook: () => build.prefetch.outlook(),
    async *arrivals(signal) {
      for await (const { key, result } of build.prefetch.arrivals(signal)) {
        if (key.namespace !== "dune") continue;
        const found = result ?? (await store.find(build.project, key));
        if (found !== undefined) yield found;
      }
    },
  };
}
