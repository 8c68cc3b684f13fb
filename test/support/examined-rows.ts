import { z } from "zod";
import type { Db } from "#db/db.ts";
import { openPostgres } from "#db/postgres.ts";

interface PlanNode {
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number | undefined;
  readonly "Rows Removed by Join Filter"?: number | undefined;
  readonly "Rows Removed by Index Recheck"?: number | undefined;
  readonly Plans?: readonly PlanNode[] | undefined;
}

const PlanNode: z.ZodType<PlanNode> = z.lazy(() =>
  z.object({
    "Actual Rows": z.number(),
    "Actual Loops": z.number(),
    "Rows Removed by Filter": z.number().optional(),
    "Rows Removed by Join Filter": z.number().optional(),
    "Rows Removed by Index Recheck": z.number().optional(),
    Plans: z.array(PlanNode).optional(),
  }),
);
const Explained = z.object({ "Query Text": z.string(), Plan: PlanNode });

/** An executed statement, and the number of rows that its plan's nodes processed: a cost without a clock. */
interface ExaminedStatement {
  readonly text: string;
  readonly rows: number;
}

/**
 * Opens connections to a database that report for each statement how many rows PostgreSQL processed.
 *
 * PostgreSQL's `auto_explain` counts them, which needs a superuser. `take` returns the statements since the last call,
 * the most expensive first.
 */
export function examiningDb(url: string): {
  db: Db;
  take: () => ExaminedStatement[];
} {
  let statements: ExaminedStatement[] = [];
  const settings = {
    session_preload_libraries: "auto_explain",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_analyze": "on",
    "auto_explain.log_timing": "off",
    "auto_explain.log_format": "json",
    "auto_explain.log_nested_statements": "on",
    client_min_messages: "log",
  };
  const options = Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(" ");
  const examined = new URL(url);
  examined.searchParams.set("options", options);
  const db = openPostgres({
    url: examined.href,
    onNotice(message) {
      const plan = /^duration: .*? plan:\n(.*)$/s.exec(message)?.[1];
      if (plan === undefined) return;
      const { "Query Text": text, Plan } = Explained.parse(JSON.parse(plan));
      statements.push({ text, rows: rowsOf(Plan) });
    },
  });
  return {
    db,
    take: () => {
      const taken = statements.toSorted((a, b) => b.rows - a.rows);
      statements = [];
      return taken;
    },
  };
}

function rowsOf(node: PlanNode): number {
  const each =
    node["Actual Rows"] +
    (node["Rows Removed by Filter"] ?? 0) +
    (node["Rows Removed by Join Filter"] ?? 0) +
    (node["Rows Removed by Index Recheck"] ?? 0);
  const below = (node.Plans ?? []).reduce((sum, plan) => sum + rowsOf(plan), 0);
  return each * node["Actual Loops"] + below;
}
