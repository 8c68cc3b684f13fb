import { createHash } from "node:crypto";
import { canonicalJson } from "#core/canonical-json.ts";
import type { Suite } from "./suite.ts";

/** Returns the SHA-256 of the definition, in hex: equal exactly when two definitions mean the same. */
export function suiteDigest(suite: Suite): string {
  return createHash("sha256").update(canonicalJson(suite)).digest("hex");
}
