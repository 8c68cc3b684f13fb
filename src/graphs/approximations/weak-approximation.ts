import { digestOf } from "#cas/digest-of.ts";
import { canonicalJson } from "#core/canonical-json.ts";
import { digestKey } from "#core/digest.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { buildAction } from "../build-action.ts";

/** Actions that one weak approximation leads to, the newest. The table bounds it, too. */
export const mostCandidates = 8;

const nothing = digestOf(new Uint8Array());

/**
 * A name for actions that are alike: of the same job, by the same command, with inputs of the same names,
 * whatever is in them. `paths` names these.
 *
 * It proves nothing. What such an action took, the next one mostly takes as well, and that is worth fetching.
 */
export function weakApproximation(job: string, definition: JobDefinition, paths: string): string {
  const { action } = buildAction(definition, nothing);
  const text = canonicalJson(["weak", 1, job, digestKey(action.digest), paths]);
  return digestOf(new TextEncoder().encode(text)).hash;
}
