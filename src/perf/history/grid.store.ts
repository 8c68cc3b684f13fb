import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { caseColumns, StoredCase } from "./figures.store.ts";
import { Numbers } from "./number-columns.ts";

/** Words of which at least one must match; empty: any. */
export interface CaseFilter {
  readonly section: readonly string[];
  readonly benchmark: readonly string[];
  readonly profile: readonly string[];
  readonly scenario: readonly string[];
  readonly backend: readonly string[];
  readonly target: readonly string[];
}

const FoundCase = StoredCase.extend({ inAll: z.number() });

/** Returns the first of a suite's matching cases, and the total number of them. */
export function casesThatFit(tx: Tx, suite: string, filter: CaseFilter, most: number) {
  const fits = (column: "section" | "benchmark" | "profile" | "scenario" | "backend" | "target") =>
    filter[column];
  return tx.many(
    FoundCase,
    sql`
      select ${caseColumns}, (count(*) over ())::int as "inAll"
      from benchmark_case
      where suite = ${suite}
        and (${fits("section")}::text[] = '{}' or section = any(${fits("section")}::text[]))
        and (${fits("benchmark")}::text[] = '{}' or benchmark = any(${fits("benchmark")}::text[]))
        and (${fits("profile")}::text[] = '{}' or profile = any(${fits("profile")}::text[]))
        and (${fits("scenario")}::text[] = '{}' or scenario = any(${fits("scenario")}::text[]))
        and (${fits("backend")}::text[] = '{}' or backend = any(${fits("backend")}::text[]))
        and (${fits("target")}::text[] = '{}' or target = any(${fits("target")}::text[]))
      order by section, benchmark, profile, scenario, backend, target
      limit ${most}
    `,
  );
}

const GridArtifact = z.object({ id: z.number(), tag: z.string(), datedAt: z.date() });

/** Returns the last measured artifacts of a kind in a period, in the order of the line. */
export async function measuredBetween(
  tx: Tx,
  of: {
    readonly suite: string;
    readonly kind: "master" | "release";
    readonly from: Date | null;
    readonly to: Date | null;
    readonly most: number;
  },
) {
  const found = await tx.many(
    GridArtifact,
    sql`
      select id, tag, dated_at as "datedAt" from benchmark_artifact as artifact
      where suite = ${of.suite} and kind = ${of.kind}
        and dated_at >= coalesce(${of.from}::timestamptz, '-infinity')
        and dated_at <= coalesce(${of.to}::timestamptz, 'infinity')
        and exists (select from benchmark_measured where artifact_id = artifact.id)
      order by dated_at desc, tag desc
      limit ${of.most}
    `,
  );
  return found.toReversed();
}

const GridRow = z.object({
  caseId: z.number(),
  environmentId: z.number(),
  artifactIds: Numbers,
  values: Numbers,
});

/** Returns one metric of some cases at some artifacts. */
export function gridValues(
  tx: Tx,
  of: {
    readonly artifactIds: readonly number[];
    readonly caseIds: readonly number[];
    readonly ordinal: number;
  },
) {
  // Both lists are conditions and not a joined table: so PostgreSQL uses an index for both, and does not read all
  // measurements of the cases.
  return tx.many(
    GridRow,
    sql`
      select case_id as "caseId", environment_id as "environmentId",
             array_to_json(array_agg(artifact_id)) as "artifactIds",
             array_to_json(array_agg(least[${of.ordinal}::int])) as values
      from benchmark_result
      where artifact_id = any(${of.artifactIds}::int[]) and case_id = any(${of.caseIds}::int[])
        and least[${of.ordinal}::int] is not null
      group by 1, 2
      order by 1, 2
    `,
  );
}
