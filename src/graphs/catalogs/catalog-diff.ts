import type { CatalogDiff } from "#api/catalog.ts";
import { nameOf } from "#definitions/catalog.ts";
import { changedExpressions } from "./changed-expressions.ts";
import { changedParts } from "./changed-parts.ts";
import type { EntryKind, TemplateCatalog, TemplateEntry } from "./template-catalog.ts";

type Changes = CatalogDiff["jobs"];

/** Jobs by name, with every placeholder filled. */
export interface FilledSides {
  readonly before: ReadonlyMap<string, unknown>;
  readonly after: ReadonlyMap<string, unknown>;
}

/**
 * Returns whether the two differ in an expression that becomes jobs, such as a matrix: then only filled jobs show the
 * changes.
 */
export function differsInExpressions(before: TemplateCatalog, after: TemplateCatalog): boolean {
  const was = entriesOf(before, "jobs");
  const is = entriesOf(after, "jobs");
  return was.size !== is.size || [...was.keys()].some((name) => !is.has(name));
}

/**
 * Returns the differences of two catalogs by job, edge, switch, parameter and graph; none for equal catalogs.
 *
 * Jobs that an expression makes are compared after filling; without `filled`, the expressions themselves are compared.
 */
export function catalogDiff(
  before: TemplateCatalog,
  after: TemplateCatalog,
  filled?: FilledSides,
): Pick<CatalogDiff, "same" | "jobs" | "parameters" | "switches" | "graphs" | "edges"> {
  const none: Changes = { added: [], removed: [], changed: [] };
  if (before.digest === after.digest) {
    return { same: true, jobs: none, parameters: none, switches: none, graphs: none, edges: [] };
  }
  const of = (kind: EntryKind) => changesOf(entriesOf(before, kind), entriesOf(after, kind));
  const [was, is] = [entriesOf(before, "job"), entriesOf(after, "job")];
  const jobs =
    filled === undefined
      ? together(
          changesOf(was, is),
          changedExpressions(entriesOf(before, "jobs"), entriesOf(after, "jobs")),
        )
      : changesOf(
          jobsOf(was, is, filled.before, filled.after),
          jobsOf(is, was, filled.after, filled.before),
        );
  return {
    same: false,
    jobs,
    parameters: of("parameter"),
    switches: of("switch"),
    graphs: of("graph"),
    edges:
      filled === undefined
        ? changedEdges(was, is)
        : changedEdges(
            jobsOf(was, is, filled.before, filled.after),
            jobsOf(is, was, filled.after, filled.before),
          ),
  };
}

type Entries = ReadonlyMap<string, Pick<TemplateEntry, "digest" | "body">>;

/** Returns one side's jobs: as written where they stand directly under their names on both sides, or on no side. */
function jobsOf(
  plain: Entries,
  otherPlain: Entries,
  filled: ReadonlyMap<string, unknown>,
  otherFilled: ReadonlyMap<string, unknown>,
): Entries {
  const isPlain = (name: string) =>
    plain.has(name) && (otherPlain.has(name) || !otherFilled.has(name));
  return new Map([
    ...[...plain].filter(([name]) => isPlain(name)),
    ...[...filled]
      .filter(([name]) => !isPlain(name))
      .map(([name, body]) => [name, { body, digest: nameOf(body) }] as const),
  ]);
}

function together(one: Changes, other: Changes): Changes {
  return {
    added: [...one.added, ...other.added],
    removed: [...one.removed, ...other.removed],
    changed: [...one.changed, ...other.changed],
  };
}

function entriesOf(catalog: TemplateCatalog, kind: EntryKind): Entries {
  return new Map(
    catalog.entries.filter((entry) => entry.kind === kind).map((entry) => [entry.name, entry]),
  );
}

function changesOf(before: Entries, after: Entries): Changes {
  return {
    added: [...after.keys()].filter((name) => !before.has(name)),
    removed: [...before.keys()].filter((name) => !after.has(name)),
    changed: bothOf(before, after).map(({ name, was, is }) => ({
      name,
      parts: changedParts(was.body, is.body),
    })),
  };
}

/** Returns entries that are on both sides and differ. */
function bothOf(before: Entries, after: Entries) {
  return [...before].flatMap(([name, was]) => {
    const is = after.get(name);
    return is === undefined || is.digest === was.digest ? [] : [{ name, was, is }];
  });
}

function changedEdges(before: Entries, after: Entries): CatalogDiff["edges"] {
  return [...new Set([...before.keys(), ...after.keys()])].toSorted().flatMap((job) => {
    const was = before.get(job);
    const is = after.get(job);
    if (was?.digest === is?.digest) return [];
    const wasNeeded = needsOf(was?.body);
    const isNeeded = needsOf(is?.body);
    return [...new Set([...wasNeeded.keys(), ...isNeeded.keys()])].toSorted().flatMap((on) => {
      const edge = { job, on, before: wasNeeded.get(on) ?? null, after: isNeeded.get(on) ?? null };
      return edge.before === edge.after ? [] : [edge];
    });
  });
}

/**
 * Returns the needs of a job that are written without expressions, including the job that finds its inputs: the name of
 * the other job, and how it must end.
 */
function needsOf(job: unknown): Map<string, string> {
  const needs = namedNeedsOf(job);
  const finder = partOf(partOf(job, "inputs-from"), "job");
  if (typeof finder === "string" && !needs.has(finder)) needs.set(finder, "success");
  return needs;
}

function namedNeedsOf(job: unknown): Map<string, string> {
  const needs = partOf(job, "needs");
  if (Array.isArray(needs)) {
    return new Map(needs.flatMap((on) => (typeof on === "string" ? [[on, "success"]] : [])));
  }
  if (typeof needs !== "object" || needs === null) return new Map();
  return new Map(
    Object.entries(needs).map(([on, need]) => {
      const end = partOf(need, "on") ?? "success";
      return [on, typeof end === "string" ? end : JSON.stringify(end)];
    }),
  );
}

function partOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined;
}
