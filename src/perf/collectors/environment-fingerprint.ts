import { createHash } from "node:crypto";
import type { EnvironmentFacts } from "#api/collector.ts";
import { canonicalJson } from "#core/canonical-json.ts";

/** Equal exactly when all facts are equal: figures are compared only with figures of an equal fingerprint. */
export function environmentFingerprint(facts: EnvironmentFacts): string {
  return createHash("sha256").update(canonicalJson(facts)).digest("hex");
}
