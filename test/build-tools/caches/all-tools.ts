import { ccache } from "./ccache.ts";
import { gradle } from "./gradle.ts";
import { nx } from "./nx.ts";
import { sccache } from "./sccache.ts";
import type { ToolDriver } from "./tool-driver.ts";
import { turborepo } from "./turborepo.ts";

/** Every tool whose HTTP cache the farm serves, but Bazel, which has tests of its own. */
export const allTools: readonly ToolDriver[] = [
  ccache("flat"),
  ccache("subdirs"),
  ccache("bazel"),
  sccache,
  gradle,
  turborepo(false),
  turborepo(true),
  nx,
];
