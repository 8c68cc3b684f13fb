import { catalogEntryKinds } from "#api/catalog.ts";
import { type DefinitionDigest, nameOf } from "#definitions/catalog.ts";
import type { Parameter, Switch } from "#definitions/definition-file.ts";
import { originInCatalog } from "#definitions/definition-origin.ts";
import { shareShape } from "#definitions/job-shape.ts";
import type { NamedGraph } from "#definitions/named-graph.ts";
import type { Declared, Templates } from "#definitions/templates.ts";
import { mapInTurns, turns } from "#scheduling/turns.ts";

export type EntryKind = (typeof catalogEntryKinds)[number];

/** One part of definitions with unfilled placeholders. */
export interface TemplateEntry {
  readonly kind: EntryKind;
  /** For an expression that produces jobs: the beginning of its digest, because it has no name. */
  readonly name: string;
  readonly digest: DefinitionDigest;
  readonly body: unknown;
}

/** Definitions with unfilled placeholders, named by one digest: unchanged definitions have the same digest. */
export interface TemplateCatalog {
  readonly digest: DefinitionDigest;
  /** Sorted by kind and name. */
  readonly entries: readonly TemplateEntry[];
}

/**
 * Computes the digest of each part of definitions, and of all together.
 *
 * Files, order and comments do not count.
 */
export async function templateCatalogOf(templates: Templates): Promise<TemplateCatalog> {
  const turn = turns();
  const declared = <Declaration>(
    kind: EntryKind,
    section: ReadonlyMap<string, Declared<Declaration>>,
  ) => [...section].map(([name, { declaration }]) => entryOf(kind, name, declaration));
  const bodies = new Map<DefinitionDigest, object>();
  const entryOfJob = (name: string, job: unknown): TemplateEntry => {
    const entry = entryOf("job", name, job);
    if (typeof job !== "object" || job === null) return entry;
    const first = bodies.get(entry.digest);
    if (first === undefined) bodies.set(entry.digest, job);
    else shareShape(job, first);
    return entry;
  };
  const entries = [
    ...(await mapInTurns(templates.jobs, ({ name, job }) => entryOfJob(name, job))),
    ...templates.expressions.map(({ jobs }) => entryOf("jobs", undefined, jobs)),
    ...declared("parameter", templates.parameters),
    ...declared("switch", templates.switches),
    ...declared("graph", templates.graphs),
  ];
  await turn();
  const sorted = new Map(entries.map((entry) => [entryKey(entry), entry]));
  const keys = [...sorted.keys()].toSorted();
  await turn();
  const digest = nameOf(keys.map((key) => [key, sorted.get(key)?.digest]));
  await turn();
  return { digest, entries: keys.flatMap((key) => sorted.get(key) ?? []) };
}

/** Returns the unique name of an entry in its catalog: `job/lint`, `switch/pgo`. */
export function entryKey({ kind, name }: Pick<TemplateEntry, "kind" | "name">): string {
  return `${kind}/${name}`;
}

/** Splits a key of `entryKey`. */
export function kindAndName(key: string): { readonly kind: EntryKind; readonly name: string } {
  const slash = key.indexOf("/");
  const kind = catalogEntryKinds.find((each) => each === key.slice(0, slash)) ?? "job";
  return { kind, name: key.slice(slash + 1) };
}

const remembered = new WeakMap<TemplateCatalog, Templates>();

/** Returns the definitions of a catalog, ready to be filled. No file was read, so problems name the entry. */
export function templatesOf(catalog: TemplateCatalog): Templates {
  const known = remembered.get(catalog);
  if (known !== undefined) return known;
  const origin = originInCatalog(catalog.digest);
  const of = (kind: EntryKind) => catalog.entries.filter((entry) => entry.kind === kind);
  // Each entry was checked before the catalog was stored, and it cannot change, because its name is
  // the digest of its content.
  const declared = <Declaration>(kind: EntryKind): Map<string, Declared<Declaration>> =>
    new Map(of(kind).map(({ name, body }) => [name, { declaration: body as Declaration, origin }]));
  const templates: Templates = {
    parameters: declared<Parameter>("parameter"),
    switches: declared<Switch>("switch"),
    graphs: declared<NamedGraph>("graph"),
    jobs: of("job").map(({ name, body }) => ({ name, job: body, origin })),
    expressions: of("jobs").map(({ body }) => ({ jobs: body, origin })),
  };
  remembered.set(catalog, templates);
  return templates;
}

const digests = new WeakMap<object, DefinitionDigest>();

function entryOf(kind: EntryKind, name: string | undefined, body: unknown): TemplateEntry {
  const digest = digestOfBody(body);
  return { kind, name: name ?? digest.slice(0, 16), digest, body };
}

/** A part of an unchanged file is the same object as before. */
function digestOfBody(body: unknown): DefinitionDigest {
  if (typeof body !== "object" || body === null) return nameOf(body);
  const digest = digests.get(body) ?? nameOf(body);
  digests.set(body, digest);
  return digest;
}
