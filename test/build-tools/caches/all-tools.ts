import { ccache } from "./ccache.ts";
import { go } from "./go.ts";
import { gradle } from "./gradle.ts";
import { maven } from "./maven.ts";
import { nx } from "./nx.ts";
import { sccache } from "./sccache.ts";
import type { ToolDriver } from "./tool-driver.ts";
import { turborepo } from "./turborepo.ts";

/** The tools whose HTTP caches the tests use; Bazel has separate tests. */
export const testedTools: readonly ToolDriver[] = [
  ccache("flat"),
  ccache("subdirs"),
  ccache("bazel"),
  go,
  gradle,
  maven,
  turborepo(false),
  turborepo(true),
  nx,
  sccache("gcc"),
  sccache("cargo"),
];
