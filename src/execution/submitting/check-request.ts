import { Fault } from "#core/fault.ts";
import { problemOfForeignProperties } from "#core/foreign-properties.ts";
import { isKeepable } from "#core/keepable-text.ts";
import { type Platform, requirementsOf } from "#core/platform.ts";
import { greatestSizeClass } from "../claiming/is-served-by.ts";
import type { ExecutionRequest } from "../execution.ts";

/** An index entry of PostgreSQL holds 2,704 bytes; the rest of our entry needs some of them. */
const longestRequirements = 2_000;
const longestName = 1_024;

/**
 * Returns the platform properties that a worker must offer, and the greatest allowed size class, as canonical JSON.
 *
 * Equal requirements give equal texts; the claim compares them as `jsonb` (`servedBy`).
 */
export function requirementsText(platform: ExecutionRequest["platform"], most?: number): string {
  const bound = most === undefined ? {} : { [greatestSizeClass]: String(most) };
  return canonicalJson({ ...requirementsOf(platform), ...bound });
}

/** Returns the text in which executions keep these requirements. */
export function canonicalJson(requirements: Platform): string {
  const entries = Object.entries(requirements).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(",")}}`;
}

/**
 * Refuses requests that the database could not store, before they are batched with other requests.
 *
 * One row with requirements that are not valid JSON would break every claim that reads it.
 */
export function checkRequest(request: ExecutionRequest): void {
  const requirements = requirementsText(request.platform);
  if (Buffer.byteLength(requirements) > longestRequirements) {
    throw new Fault(
      "invalid_argument",
      `the platform properties are too long: ${longestRequirements} bytes are the limit`,
    );
  }
  const { platform, project, invocation } = request;
  const problem = problemOfForeignProperties(platform);
  if (problem !== undefined) throw new Fault("invalid_argument", problem);
  const texts = [...Object.entries(platform).flat(), project, invocation];
  for (const text of texts) {
    if (text.length > longestName || !isKeepable(text)) {
      throw new Fault(
        "invalid_argument",
        `${JSON.stringify(text.slice(0, 80))} cannot be a name: it is too long, or not Unicode text without NUL`,
      );
    }
  }
  if (!Number.isSafeInteger(request.timeoutMs) || request.timeoutMs <= 0) {
    throw new Fault(
      "invalid_argument",
      `a timeout of ${request.timeoutMs} ms is not valid; it must be more than 0`,
    );
  }
  const { mostSizeClass: most = request.sizeClass } = request;
  if (!Number.isInteger(most) || most < request.sizeClass || most > 1e6) {
    throw new Fault(
      "invalid_argument",
      `the greatest size class ${most} is invalid: it must be a whole number from ${request.sizeClass}, the smallest requested one, to 1000000`,
    );
  }
  if (!Number.isInteger(request.sizeClass) || request.sizeClass < 1 || request.sizeClass > 1e6) {
    throw new Fault(
      "invalid_argument",
      `size class ${request.sizeClass} is not a positive integer`,
    );
  }
}
