import { Fault } from "#core/fault.ts";
import { davOfFile, davOfFolder } from "./multi-status.ts";
import { notAllowed, plainLookup, plainRules, textAnswer } from "./plain-rules.ts";
import type { CacheRequest, Lookup, Refusal, ToolRules } from "./tool-rules.ts";

const methods = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PROPFIND", "MKCOL"];

/**
 * The part of WebDAV that sccache uses.
 *
 * sccache reads one entry when it starts, and does not compile at all if that fails. So a failed read, even with a
 * wrong token, returns a miss. Then sccache checks whether it may write, and continues read-only if it may not.
 *
 * All folders seem to exist from the beginning: sccache then checks only the nearest one and creates none.
 */
export const sccacheRules: ToolRules = {
  ...plainRules,
  lookupOf({ method, path, isFolder, rawPath }: CacheRequest): Lookup {
    if (method === "OPTIONS") {
      return {
        kind: "answer",
        answer: { status: 200, headers: { dav: "1", allow: methods.join(", ") } },
      };
    }
    const key = path.join("/");
    const isKey = path.length <= 12 && path.every((part) => /^[A-Za-z0-9._-]{1,255}$/.test(part));
    if (!isKey) throw new Fault("invalid_argument", `"${key}" is not a key of sccache`);
    if (method === "PROPFIND") {
      if (isFolder) return { kind: "answer", answer: davOfFolder(rawPath) };
      return {
        kind: "look",
        keysIn: () => [key],
        tell: (found) => davOfFile(rawPath, found.get(key)),
      };
    }
    if (method === "MKCOL") {
      return { kind: "answer", answer: textAnswer(405, "this folder already exists") };
    }
    if (isFolder) {
      // A folder can be neither read nor removed.
      const answer = method === "DELETE" ? { status: 204 } : notAllowed(method, methods.join(", "));
      return { kind: "answer", answer };
    }
    return plainLookup(method, key, methods);
  },
  written: () => ({ status: 201 }),
  refused({ status, message }: Refusal, method: string) {
    const isReading = method === "GET" || method === "HEAD" || method === "PROPFIND";
    return textAnswer(isReading ? 404 : status, message);
  },
};
