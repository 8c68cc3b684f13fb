import { hash } from "node:crypto";
import { z } from "zod";
import { canonicalJson } from "#core/canonical-json.ts";
import type { JobDefinition } from "./job-definition.ts";

/** The name of a definition or a catalog: the digest of its canonical text, as `<hash>/<size>`. */
export const DefinitionDigest = z.string().brand<"DefinitionDigest">();
export type DefinitionDigest = z.infer<typeof DefinitionDigest>;

export interface CatalogEntry {
  readonly name: string;
  readonly digest: DefinitionDigest;
  readonly definition: JobDefinition;
}

/** A set of definitions, named by one digest: equal definitions have the same digest. */
export interface Catalog {
  readonly digest: DefinitionDigest;
  /** Sorted by name. */
  readonly entries: readonly CatalogEntry[];
}

/** Computes the digest of each definition, and of all together. */
export function catalogOf(definitions: ReadonlyMap<string, JobDefinition>): Catalog {
  const entries = [...definitions]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, definition]) => ({ name, digest: digestOfDefinition(definition), definition }));
  return { digest: nameOf(entries.map(({ name, digest }) => [name, digest])), entries };
}

const remembered = new WeakMap<JobDefinition, DefinitionDigest>();

/** A job without holes is the same object in every plan of its catalog. */
export function digestOfDefinition(definition: JobDefinition): DefinitionDigest {
  const digest = remembered.get(definition) ?? nameOf(definition);
  remembered.set(definition, digest);
  return digest;
}

/** Caches the name of a definition whose canonical text is already known. */
export function rememberName(definition: JobDefinition, canonicalText: string): void {
  remembered.set(definition, nameOfText(canonicalText));
}

/** Returns the digest of a value's canonical text, as `<hash>/<size>`. */
export function nameOf(value: unknown): DefinitionDigest {
  return nameOfText(canonicalJson(value));
}

function nameOfText(text: string): DefinitionDigest {
  // Not parsed, because it is valid by construction and tens of thousands are made at a time.
  return `${hash("sha256", text)}/${Buffer.byteLength(text)}` as DefinitionDigest;
}
