import type { Comparison } from "#api/benchmark-comparison.ts";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import type { Suite } from "#suites/suite.ts";
import { findSuite } from "../suites.store.ts";
import { compareStored } from "./compare-stored.ts";
import {
  artifactById,
  artifactByTag,
  isMeasuredAtAll,
  type LineArtifact,
  measuredAfter,
  measuredJustBefore,
  newestMeasured,
} from "./line.store.ts";

export interface ComparisonQuery {
  readonly suite: string;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  readonly metric?: string | undefined;
}

/** A query with defaults for all omitted parts. */
export interface ComparisonRequested {
  readonly suite: Suite;
  readonly suiteDigest: string;
  readonly before: LineArtifact;
  readonly after: LineArtifact;
  readonly metric: string;
  /** The neighbours for the arrows of the page. */
  readonly neighbours: { readonly earlier: string | null; readonly later: string | null };
}

/** Finds the parts that a query names; throws `not_found` for unknown ones. */
export async function resolveComparison(
  tx: Tx,
  query: ComparisonQuery,
): Promise<ComparisonRequested> {
  const stored = await findSuite(tx, query.suite);
  if (stored === undefined) throw noSuite(query.suite);
  const { definition: suite, digest: suiteDigest } = stored;
  const metric = query.metric ?? suite.headline;
  if (!Object.hasOwn(suite.metrics, metric)) throw noMetric(suite, metric);
  const after =
    query.after === undefined
      ? await newestMeasured(tx, query.suite)
      : await tagged(tx, query.suite, query.after);
  if (after === undefined) {
    throw new Fault(
      "not_found",
      `no artifact of the main branch of ${query.suite} is measured yet`,
    );
  }
  const before =
    query.before === undefined
      ? await defaultBefore(tx, query.suite, after)
      : await tagged(tx, query.suite, query.before);
  const [earlier, later] = await Promise.all([
    measuredJustBefore(tx, query.suite, before),
    measuredAfter(tx, query.suite, after),
  ]);
  const neighbours = { earlier: earlier?.tag ?? null, later: later?.tag ?? null };
  return { suite, suiteDigest, before, after, metric, neighbours };
}

/** Returns its parent; if that was not measured, the nearest measured artifact before it. */
async function defaultBefore(tx: Tx, suite: string, after: LineArtifact): Promise<LineArtifact> {
  const parent = after.parentId === null ? undefined : await artifactById(tx, after.parentId);
  if (parent !== undefined && (await isMeasuredAtAll(tx, parent.id))) return parent;
  const found = (await measuredJustBefore(tx, suite, after)) ?? parent;
  if (found !== undefined) return found;
  throw new Fault(
    "not_found",
    `the farm does not know the parent of ${after.tag} of ${suite}; name the artifact to compare with (before)`,
  );
}

async function tagged(tx: Tx, suite: string, tag: string): Promise<LineArtifact> {
  const artifact = await artifactByTag(tx, suite, tag);
  if (artifact === undefined) {
    throw new Fault(
      "not_found",
      `${suite} has no artifact "${tag}"; \`grange bench artifacts\` lists them`,
    );
  }
  return artifact;
}

/** Returns the comparison of two artifacts as pages and commands show it. */
export async function readComparison(
  tx: Tx,
  requested: ComparisonRequested,
  predecessors?: readonly number[],
): Promise<Comparison> {
  const { suite, before, after, metric } = requested;
  const compared = await compareStored(tx, { ...requested, predecessors });
  return {
    suite: suite.suite,
    before: endOf(before),
    after: endOf(after),
    contiguous: after.parentId === before.id,
    neighbours: requested.neighbours,
    metrics: [...compared.metrics],
    metric,
    summaries: [...compared.summaries],
    cases: [...compared.cases],
    missing: [...compared.missing],
    newlyBroken: [...compared.newlyBroken],
  };
}

function endOf({ tag, datedAt, commit }: LineArtifact): Comparison["before"] {
  return { tag, datedAt: datedAt.toISOString(), commit };
}

export function noSuite(name: string): Fault {
  return new Fault(
    "not_found",
    `there is no suite "${name}"; \`grange bench suite list\` lists them`,
  );
}

export function noMetric(suite: Suite, name: string): Fault {
  return new Fault(
    "not_found",
    `${suite.suite} has no metric "${name}"; it has ${Object.keys(suite.metrics).toSorted().join(", ")}`,
  );
}
