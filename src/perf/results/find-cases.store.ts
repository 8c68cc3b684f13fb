import { z } from "zod";
import type { FoundObject } from "#api/find.ts";
import { caseKey, TestCase } from "#core/test-case.ts";
import { containsWords } from "#db/contains-words.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/** Returns measured test cases by the words of their names and suites. `words` are in lower case. */
export async function findCases(
  tx: Tx,
  words: readonly string[],
  limit: number,
): Promise<Extract<FoundObject, { kind: "benchmark" }>[]> {
  const rows = await tx.many(
    TestCase.extend({ suite: z.string() }),
    sql`
      select suite, section, benchmark, profile, scenario, backend, target from benchmark_case
      where ${containsWords(sql`concat_ws(' ', suite, section, benchmark, profile, scenario, backend, target)`, words)}
      order by length(benchmark), suite, section, benchmark, profile, scenario, backend, target limit ${limit}
    `,
  );
  return rows.map((row) => ({ kind: "benchmark", suite: row.suite, case: caseKey(row) }));
}
