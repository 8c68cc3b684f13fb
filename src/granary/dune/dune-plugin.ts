import type { ToolPlugin } from "../tool-plugin.ts";
import { buildOfDune } from "./build-of-dune.ts";
import { serveDune } from "./serve-dune.ts";

/** dune, which uses a daemon for its cache and reads its own store. */
export const dunePlugin: ToolPlugin = {
  tool: "dune",
  serve(parts) {
    const { store, place, tieredCache, builds, directory, logger } = parts;
    const server = serveDune({
      granary: store,
      place,
      tieredCache,
      logger,
      directory,
      builds: {
        start: async ({ root }) =>
          buildOfDune(await builds.start({ directory: root, command: "dune" }), parts),
        end: ({ build }) => builds.end(build.id),
      },
    });
    return {
      attach: (build, where) => server.attach(buildOfDune(build, parts), where),
      stand: (variables) => server.stand(variables),
      stop: () => server.stop(),
    };
  },
};
