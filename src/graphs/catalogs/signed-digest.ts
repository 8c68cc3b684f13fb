import { digestOf } from "#cas/digest-of.ts";
import { canonicalJson } from "#core/canonical-json.ts";
import { digestKey } from "#core/digest.ts";

/**
 * When and where a job runs first, not what it does: these may change without anybody signing again.
 *
 * `on-expiry` is none of them: with `skip-good` and a short ttl, what needs a test would run without it.
 */
const unsignedKeys: ReadonlySet<string> = new Set(["priority", "ttl", "prefers"]);

/** One part of a catalog, as it is signed. */
export interface EntryToSign {
  readonly name: string;
  readonly definition: unknown;
  /** Not so for the parameters, switches and other parts of a catalog of templates: of them all is signed. */
  readonly isJob?: boolean;
}

/**
 * What a signature of a catalog is about: the digest, `<hash>/<size>`, of its definitions by name.
 *
 * Left out are priorities, deadlines and wishes for workers. People change those under way, and a
 * signature that broke with each change would soon be given without looking.
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
