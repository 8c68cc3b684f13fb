import { z } from "zod";
import { digestOf } from "#cas/digest-of.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { canonicalJson } from "./canonical-json.ts";
import type { JobDefinition } from "./definitions/job-definition.ts";

/** The name of a definition or a catalog: the digest of its canonical text, as `<hash>/<size>`. */
export const DefinitionDigest = z.string().brand<"DefinitionDigest">();
export type DefinitionDigest = z.infer<typeof DefinitionDigest>;

export interface CatalogEntry {
  readonly name: string;
  readonly digest: DefinitionDigest;
  readonly definition: JobDefinition;
}

/** A set of definitions, named by one digest: nothing changed, no new digest. */
export interface Catalog {
  readonly digest: DefinitionDigest;
  /** Sorted by name. */
  readonly entries: readonly CatalogEntry[];
}

/** Names each definition, and all of them together. */
export function catalogOf(definitions: ReadonlyMap<string, JobDefinition>): Catalog {
  const entries = [...definitions]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, definition]) => ({ name, digest: nameOf(definition), definition }));
  return { digest: nameOf(entries.map(({ name, digest }) => [name, digest])), entries };
}

function nameOf(value: unknown): DefinitionDigest {
  const digest: Digest = digestOf(new TextEncoder().encode(canonicalJson(value)));
  return DefinitionDigest.parse(digestKey(digest));
}
