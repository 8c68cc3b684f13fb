import { Fault } from "#core/fault.ts";
import { notAllowed, plainRules, textAnswer } from "./plain-rules.ts";
import type { CacheRequest, Lookup, Refusal, ToolRules } from "./tool-rules.ts";

/**
 * Nx's self-hosted cache. Its contract: an existing entry is never overwritten (409).
 *
 * Nx ends a whole run on any answer to a read except 200 and 404, and to a write except 200, 403 and 409, even for a
 * wrong token. So a failed read finds nothing, a failed write is not allowed, and the body gives the reason.
 */
export const nxRules: ToolRules = {
  ...plainRules,
  isFragile: true,
  lookupOf({ method, path, isFolder }: CacheRequest): Lookup {
    const [version, cache, key = "", ...more] = path;
    const isCache = version === "v1" && cache === "cache" && more.length === 0 && !isFolder;
    if (!isCache || !/^[A-Za-z0-9_-]{1,128}$/.test(key)) {
      throw new Fault("not_found", "Nx's cache has v1/cache/HASH, and nothing else");
    }
    switch (method) {
      case "GET":
      case "HEAD":
        return { kind: "read", key };
      case "PUT":
        return { kind: "write", key, attributes: {}, again: "refuse" };
      default:
        return { kind: "answer", answer: notAllowed(method, "GET, HEAD, PUT") };
    }
  },
  refused({ status, message }: Refusal, method: string) {
    return textAnswer(statusForNx(status, method), message);
  },
};

function statusForNx(status: number, method: string): number {
  if (method === "PUT") return status === 409 ? status : 403;
  return 404;
}
