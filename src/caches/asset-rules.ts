import { Fault } from "#core/fault.ts";
import { plainRules } from "./plain-rules.ts";
import type { ToolRules } from "./tool-rules.ts";

/** Content by URI is an entry like those of tools, and has no address of HTTP: over gRPC its qualifiers are checked. */
export const assetRules: ToolRules = {
  ...plainRules,
  lookupOf() {
    throw new Fault(
      "not_found",
      "assets are served over gRPC only, by build.bazel.remote.asset.v1",
    );
  },
};
