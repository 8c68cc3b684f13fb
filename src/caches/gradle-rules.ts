import { Fault } from "#core/fault.ts";
import { notAllowed, plainRules } from "./plain-rules.ts";
import type { CacheRequest, ToolRules, Wish } from "./tool-rules.ts";

/** Gradle's HttpBuildCache. It takes 413 for "too large, carry on", and other failures for a broken cache. */
export const gradleRules: ToolRules = {
  ...plainRules,
  wishOf({ method, path, isFolder }: CacheRequest): Wish {
    const [key = "", ...more] = path;
    if (isFolder || more.length > 0 || !/^[A-Za-z0-9_-]{1,128}$/.test(key)) {
      throw new Fault("invalid_argument", `"${path.join("/")}" is no key of Gradle's`);
    }
    switch (method) {
      case "GET":
      case "HEAD":
        return { kind: "read", key };
      case "PUT":
        return { kind: "write", key, attributes: {}, again: "replace" };
      default:
        return { kind: "answer", answer: notAllowed(method, "GET, HEAD, PUT") };
    }
  },
};
