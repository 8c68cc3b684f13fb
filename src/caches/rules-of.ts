import type { CacheTool } from "#api/tool-cache.ts";
import { assetRules } from "./asset-rules.ts";
import { bazelRules } from "./bazel-rules.ts";
import { ccacheRules } from "./ccache-rules.ts";
import { goRules } from "./go-rules.ts";
import { gradleRules } from "./gradle-rules.ts";
import { mavenRules } from "./maven-rules.ts";
import { namedRules } from "./named-rules.ts";
import { nxRules } from "./nx-rules.ts";
import { sccacheRules } from "./sccache-rules.ts";
import type { ToolRules } from "./tool-rules.ts";
import { turborepoRules } from "./turborepo-rules.ts";

export const rulesOf: Readonly<Record<CacheTool, ToolRules>> = {
  bazel: bazelRules,
  ccache: ccacheRules,
  sccache: sccacheRules,
  gradle: gradleRules,
  maven: mavenRules,
  turborepo: turborepoRules,
  nx: nxRules,
  gocache: goRules,
  "remote-asset": assetRules,
  dune: namedRules,
  results: namedRules,
};
