import { Fault } from "#core/fault.ts";
import { notAllowed, plainRules } from "./plain-rules.ts";
import type { CacheRequest, Lookup, ToolRules } from "./tool-rules.ts";

/** The name under which a result at `/ac/HASH` is stored. */
export const resultKey = (hash: string) => `ac/${hash}`;

/**
 * Bazel's `--remote_cache=http://…`: `/cas/` by the SHA-256 of the bytes, `/ac/` by that of the action.
 *
 * Bazel uploads without checking first, often the same blob many times.
 */
export const bazelRules: ToolRules = {
  ...plainRules,
  lookupOf({ method, path, isFolder }: CacheRequest): Lookup {
    const [kind, hash = "", ...more] = path;
    if ((kind !== "ac" && kind !== "cas") || isFolder || more.length > 0) {
      throw new Fault("not_found", "Bazel's cache has ac/HASH and cas/HASH, and nothing else");
    }
    if (!/^[0-9a-f]{64}$/.test(hash)) {
      throw new Fault(
        "invalid_argument",
        `"${hash}" is not a SHA-256 of 64 lower-case hex digits; do not change --digest_function with an HTTP cache`,
      );
    }
    const key = resultKey(hash);
    switch (method) {
      case "GET":
      case "HEAD":
        return kind === "cas"
          ? { kind: "read-blob", hash }
          : { kind: "read-action-result", key, hash };
      case "PUT":
        return kind === "cas"
          ? { kind: "write-blob", hash }
          : { kind: "write", key, attributes: {}, again: "replace" };
      default:
        return { kind: "answer", answer: notAllowed(method, "GET, HEAD, PUT") };
    }
  },
};
