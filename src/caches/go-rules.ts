import { Fault } from "#core/fault.ts";
import { plainLookup, plainRules } from "./plain-rules.ts";
import type { CacheRequest, Lookup, ToolRules } from "./tool-rules.ts";

/** When an output was stored first: Go compares it with the time of `go clean -testcache`. */
const timeHeader = "x-go-time";

/**
 * The outputs of Go's actions, for `grange gocacheprog`. The key is the action's id, which is a SHA-256. The output's id
 * is the SHA-256 of the value, so it is the `etag` of the answer.
 */
export const goRules: ToolRules = {
  ...plainRules,
  lookupOf(request: CacheRequest): Lookup {
    const { method, path, isFolder } = request;
    const [key = "", ...more] = path;
    if (isFolder || more.length > 0 || !/^[0-9a-f]{64}$/.test(key)) {
      throw new Fault("invalid_argument", `"${path.join("/")}" is not the id of an action of Go`);
    }
    const lookup = plainLookup(method, key, ["GET", "HEAD", "PUT"]);
    const time = request.header(timeHeader);
    if (lookup.kind !== "write" || time === undefined) return lookup;
    if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/.test(time)) {
      throw new Fault("invalid_argument", `header ${timeHeader} is malformed`);
    }
    return { ...lookup, attributes: { [timeHeader]: time } };
  },
  hitHeaders: (attributes) => attributes,
};
