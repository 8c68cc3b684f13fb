import { z } from "zod";
import { parseDigestKey } from "#core/digest.ts";
import type { Platform } from "#core/platform.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { ExecutionId } from "./execution.ts";
import type { LeasedExecution, WorkerProcess } from "./lease.ts";
import type { Candidate } from "./order-claims.ts";

const CandidateRow = z.object({
  id: ExecutionId,
  sizeClass: z.number(),
  lane: z.number(),
  place: z.number(),
  priority: z.number(),
});

/**
 * What a worker could take: the head of every lane whose executions it serves.
 *
 * The cost is that of the distinct requirements in the queue and of the lanes it serves, however many
 * executions wait in them: both are walked by skipping along the index, one lookup for each.
 * `<@` on flat objects of texts is what `serves` of src/core/platform.ts says.
 */
export function claimCandidates(
  tx: Tx,
  worker: { readonly platform: Platform; readonly sizeClass: number },
  most: number,
): Promise<Candidate[]> {
  return tx.many(
    CandidateRow,
    sql`
      with recursive asked as (
        (select requirements from execution where state = 'queued' order by requirements limit 1)
        union all
        select (
          select execution.requirements from execution
          where state = 'queued' and execution.requirements > asked.requirements
          order by execution.requirements limit 1
        )
        from asked
        where asked.requirements is not null
      ),
      served as (
        select requirements from asked
        where requirements is not null
          and requirements::jsonb <@ ${JSON.stringify(worker.platform)}::jsonb
      ),
      open_lane as (
        select served.requirements, head.size_class, head.lane
        from served cross join lateral (
          select size_class, lane from execution
          where state = 'queued' and execution.requirements = served.requirements
            and size_class <= ${worker.sizeClass}
          order by size_class, lane limit 1
        ) as head
        union all
        select open_lane.requirements, following.size_class, following.lane
        from open_lane cross join lateral (
          select execution.size_class, execution.lane from execution
          where state = 'queued' and execution.requirements = open_lane.requirements
            and (execution.size_class, execution.lane) > (open_lane.size_class, open_lane.lane)
            and execution.size_class <= ${worker.sizeClass}
          order by execution.size_class, execution.lane limit 1
        ) as following
      ),
      share as (
        -- With many lanes open, no single one is needed in its full depth.
        select greatest(4, 4 * ${most}::integer / greatest(1, count(*)))::integer as deep from open_lane
      )
      select head.id, open_lane.size_class as "sizeClass", open_lane.lane, head.place, head.priority
      from share, open_lane cross join lateral (
        select id, place, priority from execution
        where state = 'queued' and requirements = open_lane.requirements
          and size_class = open_lane.size_class and lane = open_lane.lane
        order by place
        limit least((select deep from share), ${most}::integer)
      ) as head
    `,
  );
}

/** How many executions of each lane are leased. */
export async function leasedByLane(tx: Tx): Promise<Map<number, number>> {
  const rows = await tx.many(
    z.object({ lane: z.number(), leased: z.number() }),
    sql`select lane, count(*) as leased from execution where state = 'leased' group by lane`,
  );
  return new Map(rows.map(({ lane, leased }) => [lane, leased]));
}

const LeasedRow = z
  .object({
    executionId: ExecutionId,
    attempt: z.number(),
    epoch: z.number(),
    instanceId: z.string(),
    project: z.string(),
    actionDigest: z.string().transform(parseDigestKey),
    timeoutMs: z.number(),
  })
  .transform(({ executionId, attempt, epoch, instanceId, ...rest }) => ({
    instanceId,
    execution: { lease: { executionId, attempt, epoch }, ...rest },
  }));

/** An execution, and the worker process that it went to. */
export interface HandedOut {
  readonly instanceId: string;
  readonly execution: LeasedExecution;
}

/**
 * Hands executions to seats, in the order given, passing over those that are no longer to be had.
 *
 * `skip locked`: a row that another server is handing out at this moment is never waited for.
 * A worker may appear in several seats.
 */
export function leaseExecutions(
  tx: Tx,
  ids: readonly ExecutionId[],
  seats: readonly WorkerProcess[],
  now: Date,
  until: Date,
): Promise<HandedOut[]> {
  return tx.many(
    LeasedRow,
    sql`
      with held as (
        select id from execution
        where id = any(${ids}::uuid[]) and state = 'queued'
        order by array_position(${ids}::uuid[], id)
        limit ${seats.length}
        for update skip locked
      ),
      seated as (select array(select id from held) as ids)
      update execution
      set state = 'leased',
          attempt = attempt + 1,
          epoch = epoch + 1,
          worker = (${seats.map(({ name }) => name)}::text[])[array_position(seated.ids, id)],
          worker_instance =
            (${seats.map(({ instanceId }) => instanceId)}::text[])[array_position(seated.ids, id)],
          leased_at = ${now},
          leased_until = ${until},
          started_at = null
      from seated
      where id = any(seated.ids)
      returning id as "executionId", attempt, epoch, worker_instance as "instanceId", project,
        action_digest as "actionDigest", timeout_ms as "timeoutMs"
    `,
  );
}
