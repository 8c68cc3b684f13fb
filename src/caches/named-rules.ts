import { Fault } from "#core/fault.ts";
import { plainLookup, plainRules } from "./plain-rules.ts";
import type { CacheRequest, Lookup, ToolRules } from "./tool-rules.ts";

/** Names that a granary makes itself: for dune's rules (`v4/KEY`), and for build systems that use its protocol. */
export const namedRules: ToolRules = {
  ...plainRules,
  lookupOf({ method, path, isFolder }: CacheRequest): Lookup {
    const isKey = path.length <= 3 && path.every(isWord);
    if (isFolder || !isKey) {
      throw new Fault("invalid_argument", `"${path.join("/")}" is not the name of a result`);
    }
    return plainLookup(method, path.join("/"), ["GET", "HEAD", "PUT", "DELETE"]);
  },
};

/** A key may become a path in a store, so none of its parts may leave its folder. */
function isWord(part: string): boolean {
  return /^[A-Za-z0-9._=+-]{1,200}$/.test(part) && part !== "." && part !== "..";
}
