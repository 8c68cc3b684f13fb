import { Fault } from "#core/fault.ts";
import { plainLookup, plainRules } from "./plain-rules.ts";
import type { CacheRequest, Lookup, ToolRules } from "./tool-rules.ts";

/**
 * ccache over HTTP. Its layouts differ in the position of slashes: `KEY`, `ab/cdef…` and `ac/64-hex-digits`. The path
 * is used as the key without changes, and values are opaque, also in the Bazel layout.
 *
 * ccache deletes an entry when it finds it corrupt.
 */
export const ccacheRules: ToolRules = {
  ...plainRules,
  lookupOf({ method, path, isFolder }: CacheRequest): Lookup {
    const isKey = path.length <= 3 && path.every((part) => /^[A-Za-z0-9_-]{1,128}$/.test(part));
    if (isFolder || !isKey) {
      throw new Fault("invalid_argument", `"${path.join("/")}" is not a key of ccache`);
    }
    return plainLookup(method, path.join("/"), ["GET", "HEAD", "PUT", "DELETE"]);
  },
};
