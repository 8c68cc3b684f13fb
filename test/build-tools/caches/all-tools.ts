import { ccache } from "./ccache.ts";
import { gradle } from "./gradle.ts";
import { nx } from "./nx.ts";
import { sccache } from "./sccache.ts";
import type { ToolDriver } from "./tool-driver.ts";
import { turborepo } from "./turborepo.ts";

/** The tools whose HTTP caches the tests try; Bazel has tests of its own. */
export const testedTools: readonly ToolDriver[] = [
  ccache("flat"),
  ccache("subdirs"),
  ccache("bazel"),
  gradle,
  turborepo(false),
  turborepo(true),
  nx,
];

/** All of them, for measurements: neither Debian 12 nor npm has a sccache that speaks WebDAV. */
export const allTools: readonly ToolDriver[] = [...testedTools, sccache];
