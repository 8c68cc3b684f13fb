import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { type Sql, sql } from "#db/sql.ts";
import { Outcome } from "#execution/execution.ts";
import type { ActionCursor } from "./action-cursor.ts";
import type { InvocationName } from "./invocation-row.store.ts";

const RequestedAction = z.object({
  kind: z.enum(["hit", "operation"]),
  key: z.string(),
  micros: z.string(),
  at: z.date(),
  actionDigest: z.string(),
  targetId: z.string(),
  mnemonic: z.string(),
  configurationId: z.string(),
  executionId: z.uuid().nullable(),
  joined: z.boolean(),
  finishedAt: z.date().nullable(),
  outcome: Outcome.nullable(),
  exitCode: z.number().nullable(),
  worker: z.string().nullable(),
});
/** An action that an invocation requested, from its own rows: a cache hit, or an operation. */
export type RequestedAction = z.infer<typeof RequestedAction>;

/** Selects actions of an invocation by the content of its rows, in the order of the requests. */
export interface RequestedActionQuery extends InvocationName {
  readonly which: "all" | "hits" | "operations" | "open" | "succeeded" | "failed" | "cancelled";
  /** A part of the target's or the mnemonic's name. */
  readonly text: string | undefined;
  readonly after: ActionCursor | undefined;
  readonly limit: number;
}

/** Returns the next actions in order. When an execution was requested twice, the first operation stands for both. */
export function requestedActions(tx: Tx, query: RequestedActionQuery): Promise<RequestedAction[]> {
  const { which, limit } = query;
  const sources = [
    ...(which === "all" || which === "hits" ? [hits(query)] : []),
    ...(which === "hits" ? [] : [operations(query)]),
  ].map((source) => sql`(${source})`);
  const all = sources.reduce((one, other) => sql`${one} union all ${other}`);
  return tx.many(
    RequestedAction,
    sql`select * from (${all}) as asked order by at, kind, key collate "C" limit ${limit}`,
  );
}

function hits({ project, id, text, after, limit }: RequestedActionQuery): Sql {
  const at = sql`looked_up_at`;
  const digest = sql`action_digest collate "C"`;
  const conditions = [
    sql`project = ${project} and invocation = ${id} and hit`,
    ...(text === undefined ? [] : [named(text)]),
    ...(after === undefined
      ? []
      : [
          after.kind === "hit"
            ? sql`(${at}, ${digest}) > (${timeOf(after)}, ${after.key})`
            : sql`${at} > ${timeOf(after)}`,
        ]),
  ];
  return sql`
    select 'hit' as kind, action_digest as key, ${microsOf(at)} as micros, ${at} as at,
      action_digest as "actionDigest", target_id as "targetId", action_mnemonic as mnemonic,
      configuration_id as "configurationId", null::uuid as "executionId", false as joined,
      null::timestamptz as "finishedAt", null as outcome, null::integer as "exitCode", null as worker
    from cache_lookup
    where ${conditions.reduce(both)}
    order by ${at}, ${digest} limit ${limit}
  `;
}

function operations({ project, id, which, text, after, limit }: RequestedActionQuery): Sql {
  const at = sql`requested_at`;
  const conditions = [
    sql`project = ${project} and invocation = ${id}`,
    ...outcomeIs[which],
    ...(text === undefined ? [] : [named(text)]),
    ...(after === undefined
      ? []
      : [
          after.kind === "operation"
            ? sql`(${at}, id) > (${timeOf(after)}, ${after.key}::uuid)`
            : // At the same time, hits come first.
              sql`${at} >= ${timeOf(after)}`,
        ]),
    sql`not exists (
      select from operation as before
      where before.execution_id = operation.execution_id and before.project = operation.project
        and before.invocation = operation.invocation
        and (before.requested_at, before.id) < (operation.requested_at, operation.id))`,
  ];
  return sql`
    select 'operation' as kind, id::text as key, ${microsOf(at)} as micros, ${at} as at,
      action_digest as "actionDigest", target_id as "targetId", action_mnemonic as mnemonic,
      configuration_id as "configurationId", execution_id as "executionId", joined,
      finished_at as "finishedAt", outcome, exit_code as "exitCode", worker
    from operation
    where ${conditions.reduce(both)}
    order by ${at}, id limit ${limit}
  `;
}

const outcomeIs: Readonly<Record<RequestedActionQuery["which"], readonly Sql[]>> = {
  all: [],
  hits: [],
  operations: [],
  open: [sql`outcome is null`],
  succeeded: [sql`outcome = 'succeeded'`],
  failed: [sql`outcome not in ('succeeded', 'cancelled')`],
  cancelled: [sql`outcome = 'cancelled'`],
};

const both = (one: Sql, other: Sql) => sql`${one} and ${other}`;

function named(text: string): Sql {
  return sql`strpos(lower(target_id || ' ' || action_mnemonic), ${text.toLowerCase()}) > 0`;
}

function microsOf(column: Sql): Sql {
  return sql`((extract(epoch from ${column}) * 1000000)::bigint)::text`;
}

function timeOf({ micros }: ActionCursor): Sql {
  return sql`(timestamptz 'epoch' + ${micros}::bigint * interval '1 microsecond')`;
}
