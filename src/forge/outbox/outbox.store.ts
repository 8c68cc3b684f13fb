import { z } from "zod";
import { keepableText } from "#core/keepable-text.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { laneOf, OutboxContent } from "./outbox-content.ts";

/** Notifies the senders at all servers. */
export const outboxChannel = "grange_forge_outbox";

/**
 * Sets what the forge should show under a key. Setting the same again changes nothing; a row that was given up is
 * retried when it changes. Rows of unwatched repositories are ignored.
 */
export async function want(
  tx: Tx,
  repository: string,
  key: string,
  content: OutboxContent,
  now: Date,
): Promise<void> {
  const wanted = await tx.run(sql`
    insert into forge_outbox as known (repository, key, content, next_at, lane)
    select name, ${key}, ${asKept(content)}::jsonb, ${now}, ${laneOf(content)}
    from forge_repository where name = ${repository}
    on conflict (repository, key) do update
    set content = excluded.content, revision = known.revision + 1, failed_at = null,
        -- What waits keeps its turn, and its time: a new text does not make a forge less busy.
        turn = case when known.sent_revision < known.revision and known.failed_at is null then known.turn
                    else excluded.turn end,
        next_at = case when known.attempts > 0 and known.failed_at is null then known.next_at
                       else excluded.next_at end,
        attempts = case when known.failed_at is null then known.attempts else 0 end,
        error = case when known.failed_at is null then known.error end
    where known.content is distinct from excluded.content
  `);
  if (wanted > 0) await tx.run(sql`select pg_notify(${outboxChannel}, '')`);
}

/** Text from others may contain characters that no database stores; only such text is changed. */
function asKept(content: OutboxContent): string {
  return JSON.stringify(content, (_, value: unknown) =>
    typeof value === "string" ? keepableText(value, value.length) : value,
  );
}

const Waiting = z.object({
  repository: z.string(),
  key: z.string(),
  content: OutboxContent,
  revision: z.number(),
  epoch: z.number(),
  attempts: z.number(),
  remoteId: z.string().nullable(),
  /** Whether an earlier attempt may have written the object without recording it. */
  wasUnsettled: z.boolean(),
});
/** A row that this server may send, until its lease ends or is lost. */
export type LeasedRow = z.infer<typeof Waiting>;

const isDue = (now: Date) => sql`
  row.failed_at is null
  and (row.look_again_at <= ${now}
    or row.sent_revision < row.revision and row.next_at <= ${now}
      -- What was wanted before it in its lane, and has to wait.
      and not exists (
        select from forge_outbox as before
        where before.repository = row.repository and before.lane = row.lane and before.turn < row.turn
          and before.sent_revision < before.revision and before.failed_at is null
          and before.next_at > ${now}))
`;

/** Returns repositories with due rows that no server is sending, the longest-waiting first. */
export async function repositoriesToSend(tx: Tx, now: Date, most: number): Promise<string[]> {
  const rows = await tx.many(
    z.object({ repository: z.string() }),
    sql`
      select repository from forge_outbox as row
      where ${isDue(now)}
        and not exists (select from forge_outbox as held
                        where held.repository = row.repository and held.leased_until > ${now})
      group by repository
      order by min(least(next_at, look_again_at)), repository
      limit ${most}
    `,
  );
  return rows.map(({ repository }) => repository);
}

/**
 * Leases the next row of a repository; undefined when there is none, or when another server sends there, because forges
 * require sequential writes.
 */
export async function leaseNext(
  tx: Tx,
  repository: string,
  now: Date,
  until: Date,
): Promise<LeasedRow | undefined> {
  // One after the other: two concurrent servers would otherwise both see that no server sends.
  await tx.run(
    sql`select pg_advisory_xact_lock(hashtextextended('forge_outbox ' || ${repository}, 0))`,
  );
  const [row] = await tx.many(
    Waiting,
    sql`
      update forge_outbox as leased
      set epoch = leased.epoch + 1, leased_until = ${until}, is_unsettled = true
      from (
        select key, is_unsettled from forge_outbox as row
        where repository = ${repository} and ${isDue(now)}
          and not exists (select from forge_outbox as held
                          where held.repository = ${repository} and held.leased_until > ${now})
        order by turn
        limit 1
      ) as next
      where leased.repository = ${repository} and leased.key = next.key
      returning leased.repository, leased.key, leased.content, leased.revision, leased.epoch,
                leased.attempts, leased.remote_id as "remoteId", next.is_unsettled as "wasUnsettled"
    `,
  );
  return row;
}

/** Returns false when another server has it. */
export async function keepLease(
  tx: Tx,
  { repository, key, epoch }: LeasedRow,
  until: Date,
): Promise<boolean> {
  const kept = await tx.run(sql`
    update forge_outbox set leased_until = ${until}
    where repository = ${repository} and key = ${key} and epoch = ${epoch} and leased_until is not null
  `);
  return kept > 0;
}

/**
 * Only the latest lease may record. `lookAgainAt`: the time of a second check, because duplicates
 * may still appear.
 */
export async function recordSent(
  tx: Tx,
  { repository, key, epoch, revision }: LeasedRow,
  {
    remoteId,
    lookAgainAt,
  }: { readonly remoteId: string | null; readonly lookAgainAt: Date | null },
): Promise<boolean> {
  const recorded = await tx.run(sql`
    update forge_outbox
    set sent_revision = greatest(sent_revision, ${revision}::integer), remote_id = ${remoteId},
        look_again_at = ${lookAgainAt}, is_unsettled = false,
        attempts = 0, error = null, leased_until = null
    where repository = ${repository} and key = ${key} and epoch = ${epoch} and leased_until is not null
  `);
  return recorded > 0;
}

/** `isUnsettled`: the object may have been written nevertheless. */
export async function recordFailure(
  tx: Tx,
  { repository, key, epoch, revision }: LeasedRow,
  failure: {
    readonly error: string;
    readonly isUnsettled: boolean;
    readonly nextAt: Date;
    /** Whether this content will never succeed. */
    readonly isForGood: boolean;
    readonly now: Date;
  },
): Promise<boolean> {
  const { error, isUnsettled, nextAt, isForGood, now } = failure;
  const recorded = await tx.run(sql`
    update forge_outbox
    set attempts = attempts + 1, error = ${error}, is_unsettled = ${isUnsettled}, next_at = ${nextAt},
        failed_at = case when ${isForGood}::boolean and revision = ${revision} then ${now}::timestamptz end,
        look_again_at = case when look_again_at is not null then ${nextAt}::timestamptz end,
        leased_until = null
    where repository = ${repository} and key = ${key} and epoch = ${epoch} and leased_until is not null
  `);
  return recorded > 0;
}

/** Postpones all rows of this repository because the forge requested a pause. */
export async function putOff(tx: Tx, repository: string, until: Date): Promise<void> {
  await tx.run(sql`
    update forge_outbox
    set next_at = greatest(next_at, ${until}),
        -- Of null and a time, the greatest is the time.
        look_again_at = case when look_again_at is not null then greatest(look_again_at, ${until}) end
    where repository = ${repository} and failed_at is null
      and (sent_revision < revision or look_again_at is not null)
  `);
}

/** Returns the time of the next possible sending; undefined: nothing waits. A past time means now. */
export async function nextSending(tx: Tx): Promise<Date | undefined> {
  const [row] = await tx.many(
    z.object({ at: z.date().nullable() }),
    sql`
      with waiting as (
        select repository, look_again_at,
          -- Behind what was wanted before it in its lane.
          case when sent_revision < revision then
            max(next_at) filter (where sent_revision < revision)
              over (partition by repository, lane order by turn) end as due_at
        from forge_outbox
        where failed_at is null and (sent_revision < revision or look_again_at is not null)
      ), held as (
        select repository, max(leased_until) as until from forge_outbox
        where leased_until is not null group by repository
      )
      select min(greatest(least(waiting.due_at, waiting.look_again_at), held.until)) as at
      from waiting left join held using (repository)
    `,
  );
  return row?.at ?? undefined;
}

/** Retries rows that were given up. Returns how many. */
export async function tryGivenUp(tx: Tx, repository: string, now: Date): Promise<number> {
  const again = await tx.run(sql`
    update forge_outbox set failed_at = null, attempts = 0, next_at = ${now}
    where repository = ${repository} and failed_at is not null
  `);
  if (again > 0) await tx.run(sql`select pg_notify(${outboxChannel}, '')`);
  return again;
}

/** Returns whether there ever was content under a key. */
export async function isWanted(tx: Tx, repository: string, key: string): Promise<boolean> {
  const rows = await tx.many(
    z.object({ key: z.string() }),
    sql`select key from forge_outbox where repository = ${repository} and key = ${key}`,
  );
  return rows.length > 0;
}
