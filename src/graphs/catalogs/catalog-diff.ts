import type { CatalogDiff } from "#api/catalog.ts";
import { changedExpressions } from "./changed-expressions.ts";
import { changedParts } from "./changed-parts.ts";
import type { EntryKind, TemplateCatalog, TemplateEntry } from "./template-catalog.ts";

type Changes = CatalogDiff["jobs"];

/** What differs between two catalogs, by job, edge, switch, parameter and graph. Of equal ones, nothing. */
export function catalogDiff(
  before: TemplateCatalog,
  after: TemplateCatalog,
): Pick<CatalogDiff, "same" | "jobs" | "parameters" | "switches" | "graphs" | "edges"> {
  const none: Changes = { added: [], removed: [], changed: [] };
  if (before.digest === after.digest) {
    return { same: true, jobs: none, parameters: none, switches: none, graphs: none, edges: [] };
  }
  const of = (kind: EntryKind) => changesOf(entriesOf(before, kind), entriesOf(after, kind));
  const jobs = of("job");
  const expressions = changedExpressions(entriesOf(before, "jobs"), entriesOf(after, "jobs"));
  return {
    same: false,
    jobs: {
      added: [...jobs.added, ...expressions.added],
      removed: [...jobs.removed, ...expressions.removed],
      changed: [...jobs.changed, ...expressions.changed],
    },
    parameters: of("parameter"),
    switches: of("switch"),
    graphs: of("graph"),
    edges: changedEdges(entriesOf(before, "job"), entriesOf(after, "job")),
  };
}

type Entries = ReadonlyMap<string, TemplateEntry>;

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

/** What is on both sides, and is not the same. */
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

/** The needs of a job that are written plainly, with the job that finds its inputs: the other job, and how it must end. */
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
