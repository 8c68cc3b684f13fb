import { z } from "zod";
import { Platform } from "#core/platform.ts";
import type { Tx } from "#db/db.ts";
import { type Sql, sql } from "#db/sql.ts";
import { ExecutionId } from "../execution.ts";
import { canonicalJson } from "./check-request.ts";

/** Requirements of executions that are equal for workers. */
export interface QueuedKind {
  readonly requirements: Platform;
  readonly sizeClass: number;
}

const Requirements = z.string().transform((text) => Platform.parse(JSON.parse(text)));

/** The kinds of executions that wait in the queue, for a `with recursive`: found by skipping along an index. */
export const waitingKinds: Sql = sql`
  kind as (
    (select requirements, size_class from execution where state = 'queued'
     order by requirements, size_class limit 1)
    union all
    select next.requirements, next.size_class
    from kind cross join lateral (
      select requirements, size_class from execution
      where state = 'queued'
        and (requirements, size_class) > (kind.requirements, kind.size_class)
      order by requirements, size_class limit 1
    ) as next
  )
`;

/** Returns the kinds of waiting executions, with a few index lookups for each kind. */
export function queuedKinds(tx: Tx): Promise<QueuedKind[]> {
  return tx.many(
    z.object({ requirements: Requirements, sizeClass: z.number() }),
    sql`
      with recursive ${waitingKinds}
      select requirements, size_class as "sizeClass" from kind
    `,
  );
}

const KindSize = z.object({ count: z.number(), first: ExecutionId.nullable() });

/** Returns how many executions of a kind wait, and one of them; undefined when none waits any more. */
export async function sizeOfKind(
  tx: Tx,
  { requirements, sizeClass }: QueuedKind,
): Promise<{ readonly count: number; readonly first: ExecutionId } | undefined> {
  const isOfKind = sql`state = 'queued' and requirements = ${canonicalJson(requirements)} and size_class = ${sizeClass}`;
  const [row] = await tx.many(
    KindSize,
    sql`
      select (select count(*) from execution where ${isOfKind})::integer as count,
             (select id from execution where ${isOfKind} order by lane, place limit 1) as first
    `,
  );
  return row === undefined || row.first === null
    ? undefined
    : { count: row.count, first: row.first };
}

/** Returns the waiting ones among the executions, with their requirements. */
export function queuedAmong(
  tx: Tx,
  ids: readonly ExecutionId[],
): Promise<(QueuedKind & { readonly id: ExecutionId })[]> {
  return tx.many(
    z.object({ id: ExecutionId, requirements: Requirements, sizeClass: z.number() }),
    sql`
      select id, requirements, size_class as "sizeClass" from execution
      where id = any(${ids}::uuid[]) and state = 'queued'
    `,
  );
}

/** Locks the executions that are still in the queue, until the transaction ends. */
export async function lockQueued(tx: Tx, ids: readonly ExecutionId[]): Promise<ExecutionId[]> {
  const rows = await tx.many(
    z.object({ id: ExecutionId }),
    sql`
      select id from execution
      where id = any(${ids}::uuid[]) and state = 'queued' order by id for update
    `,
  );
  return rows.map(({ id }) => id);
}

const Offer = z.object({ platform: Platform, sizeClass: z.number(), workers: z.number() });
/** The offers of workers that were seen recently, regardless of their current state. */
export type SeenOffer = z.infer<typeof Offer>;

export function offersSeen(tx: Tx, since: Date): Promise<SeenOffer[]> {
  return tx.many(
    Offer,
    sql`
      select platform, size_class as "sizeClass", count(*)::integer as workers
      from worker where last_seen_at >= ${since}
      group by platform, size_class
    `,
  );
}
