import { realpath } from "node:fs/promises";
import { CommitId } from "#api/granary.ts";
import type { RunningBuild } from "../builds/start-build.ts";
import type { ToolParts } from "../tool-plugin.ts";
import type { DuneBuild } from "./dune-builds.ts";

/** dune reads only its own store and sends no requests, so results are written there as they arrive. */
export function buildOfDune(
  build: RunningBuild,
  { store, readNested }: Pick<ToolParts, "store" | "readNested">,
): DuneBuild {
  return {
    build,
    async uses(repositories) {
      const root = build.facts.root;
      const all = await Promise.all(
        repositories.map(async (each) => ({ ...each, real: await realPathOf(each.directory) })),
      );
      const nested = all.filter(({ real }) => real !== root);
      await build.uses(
        await readNested(
          nested.map(({ real, commit }) => ({
            root: real,
            commit: CommitId.safeParse(commit).data,
            dirty: false,
          })),
        ),
      );
      return nested.map(({ directory }) => directory);
    },
    belongsTo: (result, nested) => build.belongsTo(result, nested),
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

async function realPathOf(directory: string): Promise<string> {
  return realpath(directory).catch(() => directory);
}
