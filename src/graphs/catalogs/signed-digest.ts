import { digestOf } from "#cas/digest-of.ts";
import { canonicalJson } from "#core/canonical-json.ts";
import { digestKey } from "#core/digest.ts";

/**
 * Keys that affect when and where a job runs, but not its commands: these may change without a new signature.
 *
 * `on-expiry` is not one of them: with `skip-good` and a short ttl, jobs that need a test would run without it.
 */
const unsignedKeys: ReadonlySet<string> = new Set(["priority", "ttl", "prefers"]);

/** One signed part of a catalog. */
export interface EntryToSign {
  readonly name: string;
  readonly definition: unknown;
  /** False for parameters, switches and other parts of a catalog of templates, which are signed completely. */
  readonly isJob?: boolean;
}

/**
 * Returns the digest that a signature of a catalog covers, `<hash>/<size>`: the digest of its definitions by name.
 *
 * Priorities, deadlines and preferred workers are left out. People change those often, and would soon sign each change
 * without reading it.
 */
export function signedDigestOf(entries: readonly EntryToSign[]): string {
  const signed = entries
    .map(({ name, definition, isJob = true }): [string, string] => [
      name,
      named(isJob ? withoutUnsigned(definition) : definition),
    ])
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return named(signed);
}

function withoutUnsigned(definition: unknown): unknown {
  if (typeof definition !== "object" || definition === null || Array.isArray(definition))
    return definition;
  return Object.fromEntries(Object.entries(definition).filter(([key]) => !unsignedKeys.has(key)));
}

function named(value: unknown): string {
  return digestKey(digestOf(new TextEncoder().encode(canonicalJson(value))));
}
