import { z } from "zod";
import { Platform } from "#core/platform.ts";
import { TrustDomain } from "#core/trust-domain.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { greatestSizeClass } from "../claiming/is-served-by.ts";
import { ExecutionId } from "../execution.ts";
import { AttemptRow } from "./size-decision.store.ts";

const EndedRun = AttemptRow.extend({ endedAt: z.coerce.date() });

const Row = z.object({
  id: ExecutionId,
  project: z.string(),
  domain: TrustDomain,
  similarityKeys: z.array(z.string()),
  title: z.string(),
  owner: z.string(),
  requirements: z.string().transform((text) => {
    const { [greatestSizeClass]: _, ...requirements } = Platform.parse(JSON.parse(text));
    return requirements;
  }),
  most: z.number().nullable(),
  result: z.instanceof(Uint8Array).nullable(),
  pageRank: z.record(z.string(), z.number()).nullable(),
  attempts: z.array(EndedRun),
});
/** An ended execution with the outcomes of its attempts. */
export type ObservedExecution = z.infer<typeof Row>;

/**
 * Returns those of the executions that are finished and still stored, without attempts from before sizes were recorded.
 *
 * Second runs are left out: if their results were used, they count as attempts of the original.
 */
export function observedExecutions(
  tx: Tx,
  ids: readonly ExecutionId[],
): Promise<ObservedExecution[]> {
  return tx.many(
    Row,
    sql`
      select execution.id, project, domain, kin as "similarityKeys", title, owner, requirements, most_size_class as most, result,
        (select page_rank from size_class_decision
         where execution_id = execution.id and page_rank is not null order by number desc limit 1)
          as "pageRank",
        ended.attempts
      from execution cross join lateral (
        select coalesce(json_agg(json_build_object(
            'sizeClass', size_class, 'outcome', execution_attempt.outcome,
            'durationMs', extract(epoch from execution_attempt.finished_at
              - coalesce(execution_attempt.started_at, execution_attempt.leased_at)) * 1000,
            'timeoutMs', execution_attempt.timeout_ms, 'exitCode', execution_attempt.exit_code,
            'cpuMs', execution_attempt.user_ms + execution_attempt.system_ms,
            'peakMemoryBytes', execution_attempt.peak_memory_bytes,
            'endedAt', execution_attempt.finished_at
          ) order by attempt), '[]') as attempts
        from execution_attempt
        where execution_id = execution.id and size_class is not null
      ) as ended
      where execution.id = any(${ids}::uuid[]) and state = 'finished' and hedge_of is null
    `,
  );
}
