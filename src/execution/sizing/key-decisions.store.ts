import type { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId } from "../execution.ts";
import { Decision } from "./size-decision.store.ts";

const DecisionOfKey = Decision.extend({ executionId: ExecutionId });
type DecisionOfKey = z.infer<typeof DecisionOfKey>;

/** Returns the latest choices based on a key, the newest first. */
export function latestDecisions(
  tx: Tx,
  {
    project,
    domain,
    key,
  }: { readonly project: string; readonly domain: string; readonly key: string },
  most: number,
): Promise<DecisionOfKey[]> {
  return tx.many(
    DecisionOfKey,
    sql`
      select execution_id as "executionId", project, domain, number, purpose, key, strategy,
        decided_at as "decidedAt", size_class as "sizeClass", is_exact as "isExact",
        expected_ms as "expectedMs", timeout_ms as "timeoutMs", draw,
        background_size_class as "backgroundSizeClass", page_rank as "pageRank", reason, alternatives
      from size_class_decision
      where project = ${project} and domain = ${domain} and key = ${key}
      order by decided_at desc
      limit ${most}
    `,
  );
}
