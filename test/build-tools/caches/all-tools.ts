import { ccache } from "./ccache.ts";
import { go } from "./go.ts";
import { gradle } from "./gradle.ts";
import { nx } from "./nx.ts";
import { sccache } from "./sccache.ts";
import type { ToolDriver } from "./tool-driver.ts";
import { turborepo } from "./turborepo.ts";

/** Tools that the tests use with the HTTP caches of a farm and of a granary; Bazel has separate tests. */
export const testedTools: readonly ToolDriver[] = [
  ccache("flat"),
  ccache("subdirs"),
  ccache("bazel"),
  go,
  gradle,
  turborepo(false),
  turborepo(true),
  nx,
];

/** The same, and those that the tests use with a farm only. */
export const allTools: readonly ToolDriver[] = [...testedTools, sccache("gcc"), sccache("cargo")];
