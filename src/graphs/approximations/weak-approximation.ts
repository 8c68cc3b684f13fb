import { digestOf } from "#cas/digest-of.ts";
import { canonicalJson } from "#core/canonical-json.ts";
import { digestKey } from "#core/digest.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { buildAction } from "../build-action.ts";

/**
 * The number of newest actions that one weak approximation leads to. A database constraint also
 * enforces it.
 */
export const mostCandidates = 8;

const nothing = digestOf(new Uint8Array());

/**
 * Returns a name for similar actions: those of the same job, with the same command and inputs with the same names,
 * whatever their content. `paths` is a digest of these names.
 *
 * It proves nothing. But the next such action mostly needs the same inputs, which are worth prefetching.
 */
export function weakApproximation(job: string, definition: JobDefinition, paths: string): string {
  const { action } = buildAction(definition, nothing);
  const text = canonicalJson(["weak", 1, job, digestKey(action.digest), paths]);
  return digestOf(new TextEncoder().encode(text)).hash;
}
