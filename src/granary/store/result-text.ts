import { createHash } from "node:crypto";
import { z } from "zod";
import { ResultKey } from "#commit-index/result-key.ts";
import { canonicalJson } from "#core/canonical-json.ts";
import { DigestText, digestKey } from "#core/digest.ts";
import type { GranaryResult } from "../granary-result.ts";

/** A result in text form. `costMs` is left out when it is unknown. */
export const KeptResult = ResultKey.extend({
  project: z.string(),
  value: DigestText,
  attributes: z.record(z.string(), z.string()),
  blobs: z.array(DigestText),
  costMs: z.number().nonnegative().optional(),
}).transform(({ costMs, ...rest }): GranaryResult => ({ ...rest, costMs }));

/** Returns the form that `KeptResult` reads. */
export function asKept({ value, blobs, ...rest }: GranaryResult): Record<string, unknown> {
  return { ...rest, value: digestKey(value), blobs: blobs.map(digestKey) };
}

/**
 * A result's record: a hash, a line's end, and the result as canonical JSON.
 *
 * JSON alone would not show a changed digit, and attributes are returned to tools unchanged.
 */
export function resultText(result: GranaryResult): string {
  const text = canonicalJson(asKept(result));
  return `${hashOf(text)}\n${text}`;
}

/** Returns undefined for a text that is truncated, corrupt, or in another format. */
export function readResultText(text: string): GranaryResult | undefined {
  const end = text.indexOf("\n");
  const body = text.slice(end + 1);
  if (end < 0 || hashOf(body) !== text.slice(0, end)) return undefined;
  try {
    return KeptResult.safeParse(JSON.parse(body)).data;
  } catch {
    return undefined;
  }
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
