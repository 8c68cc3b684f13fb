import { Fault } from "#core/fault.ts";
import { plainLookup, plainRules } from "./plain-rules.ts";
import type { CacheRequest, Lookup, ToolRules } from "./tool-rules.ts";

/** Gradle's HttpBuildCache. It interprets 413 as "too large, continue", and other failures as a broken cache. */
export const gradleRules: ToolRules = {
  ...plainRules,
  lookupOf({ method, path, isFolder }: CacheRequest): Lookup {
    const [key = "", ...more] = path;
    if (isFolder || more.length > 0 || !/^[A-Za-z0-9_-]{1,128}$/.test(key)) {
      throw new Fault("invalid_argument", `"${path.join("/")}" is not a key of Gradle`);
    }
    return plainLookup(method, key, ["GET", "HEAD", "PUT"]);
  },
};
