import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { GraphId } from "../graph-id.ts";

const RuleRow = z.object({
  repository: z.string(),
  branch: z.string(),
  keepMs: z.number().nullable(),
  keepNewest: z.number(),
  most: z.number().nullable(),
  setBy: z.string(),
  setAt: z.date(),
});
type RuleRow = z.infer<typeof RuleRow>;

/** Gives a graph a label that keeps it; an existing label gets the new reason. */
export function retentionRules(tx: Tx): Promise<RuleRow[]> {
  return tx.many(
    RuleRow,
    sql`
      select repository, branch, keep_ms as "keepMs", keep_newest as "keepNewest", most, set_by as "setBy", set_at as "setAt"
      from retention_rule order by repository, branch
    `,
  );
}

/** Sets the rule of a repository and a branch pattern; replaces an existing one. */
export async function setRetentionRule(
  tx: Tx,
  rule: Omit<RuleRow, "setAt">,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    insert into retention_rule (repository, branch, keep_ms, keep_newest, most, set_by, set_at)
    values (${rule.repository}, ${rule.branch}, ${rule.keepMs}, ${rule.keepNewest}, ${rule.most}, ${rule.setBy}, ${now})
    on conflict (repository, branch) do update
    set keep_ms = excluded.keep_ms, keep_newest = excluded.keep_newest, most = excluded.most,
        set_by = excluded.set_by, set_at = excluded.set_at
  `);
}

/** Returns whether there was such a rule. */
export async function removeRetentionRule(
  tx: Tx,
  repository: string,
  branch: string,
): Promise<boolean> {
  const removed = await tx.run(
    sql`delete from retention_rule where repository = ${repository} and branch = ${branch}`,
  );
  return removed > 0;
}

const HoldRow = z.object({
  graph: z.string(),
  label: z.string(),
  why: z.string().nullable(),
  setBy: z.string(),
  setAt: z.date(),
});
type HoldRow = z.infer<typeof HoldRow>;

/** The labels that keep graphs, the latest first. */
export function retentionHolds(tx: Tx, most: number): Promise<HoldRow[]> {
  return tx.many(
    HoldRow,
    sql`
      select graph_id as graph, label, why, set_by as "setBy", set_at as "setAt"
      from retention_hold order by set_at desc, graph_id, label limit ${most}
    `,
  );
}

/** Gives a graph a label that keeps it; one that it has already gets the new reason. */
export async function holdGraph(
  tx: Tx,
  graph: GraphId,
  hold: { readonly label: string; readonly why: string | null; readonly by: string },
  now: Date,
): Promise<void> {
  await tx.run(sql`
    insert into retention_hold (graph_id, label, why, set_by, set_at)
    values (${graph}, ${hold.label}, ${hold.why}, ${hold.by}, ${now})
    on conflict (graph_id, label) do update
    set why = excluded.why, set_by = excluded.set_by, set_at = excluded.set_at
  `);
}

/** Returns whether the graph had the label. */
export async function releaseGraph(tx: Tx, graph: GraphId, label: string): Promise<boolean> {
  const removed = await tx.run(
    sql`delete from retention_hold where graph_id = ${graph} and label = ${label}`,
  );
  return removed > 0;
}
